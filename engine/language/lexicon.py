"""The English words that the rules know: function words by their class, and the commonest others.

Verbs that are nouns as well (`paint`, `plan`) are listed among the verbs; their place decides. A word that
is in no list is taken for a noun, which costs least: what a noun is mistaken for is not searched by at the
second level.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from engine.language.forms import VERB_GROUPS


def words(text: str) -> frozenset[str]:
    """The words of a list that is written as a text."""
    return frozenset(text.split())


_FUNCTION: Final = {
    "DET": "a an the this that these those some any each every either neither both all few other another "
    "such own same my our your his her its their whose which what no many much several "
    "enough various whatever whichever",
    "PRON": "i me mine myself we us ours ourselves you yours yourself yourselves he him himself she hers "
    "herself it itself they them theirs themselves one oneself who whom whoever anyone anybody anything "
    "someone somebody something everyone everybody everything nobody nothing none there u "
    "i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd she'll it's it'd it'll we're "
    "we've we'd we'll they're they've they'd they'll that's there's here's who's what's where's when's how's "
    "why's who'd who've im ive youre youve theyre theyve thats whats wheres whos hows whom's",
    "AUX": "be am is are was were been being have has had having do does did doing done can could may might "
    "must shall should will would cannot isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't "
    "didn't can't couldn't mayn't mightn't mustn't shan't shouldn't won't wouldn't needn't ain't isnt arent "
    "wasnt werent havent hasnt hadnt dont doesnt didnt cant couldnt mustnt shouldnt wont wouldnt aint",
    "ADP": "of in on at by for with from into onto upon about against between among amongst through during "
    "before after above below under over up down out off within without toward towards per via across along "
    "around behind beneath beside besides beyond despite except inside outside near opposite past since "
    "throughout till until underneath unlike concerning regarding versus vs amid plus aboard according due",
    "PART": "to not let's",
    "CCONJ": "and or but nor &",
    "SCONJ": "if then else than because as while although though whereas unless whether so however "
    "when where why how whenever wherever more most less least",
    "INTJ": "yes please hi hello hey ok okay thanks thx oh well um hmm etc eg ie",
}

NUMBERS: Final = words(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand "
    "thousands million millions billion billions dozen dozens half first second third fourth fifth sixth "
    "seventh eighth ninth tenth"
)

VERBS: Final = words(
    "accept accomplish achieve acquire act adapt add adjust admire admit adopt advise affect afford agree "
    "aim allow announce answer appear apply appoint appreciate approach approve argue arrange arrive ask "
    "assist assume attempt attend avoid award bake base behave believe belong benefit bet blame bless "
    "block boil book borrow bother bounce breathe brew broadcast build burst calculate call camp campaign "
    "cancel care carry cast cause celebrate challenge change charge chase chat cheat check cheer clean "
    "clear climb close collaborate collect combine comment commit communicate compare compete complain "
    "complete compose compute concern conclude conduct confirm confuse connect consider consist construct "
    "consult contact contain continue contribute control convert convince cook copy correct cost count "
    "cover crash create criticise criticize cry cure cut damage dance dare date deal debug debut decide "
    "declare decline decorate decrease defeat defend define delay delete deliver demand deny depend "
    "deploy describe deserve design destroy detect determine develop die differ direct disagree disappear "
    "discover discuss dislike display divide divorce donate doubt download drag draw dream dress drop "
    "earn edit educate elect eliminate embrace emerge emphasize employ enable encounter encourage end "
    "endure engage enhance enjoy enroll ensure enter entertain escape establish estimate evaluate examine "
    "exceed exchange excite excuse execute exercise exist expand expect experience experiment explain "
    "explore export express extend face fail fall feature fetch file fill film finish fire fit fix flee "
    "flow focus fold follow force forgive form found gain gather generate go govern grab graduate grant "
    "greet grow guarantee guess guide handle hang happen harm hate help hesitate highlight hike hire hit "
    "hope host hug hunt hurry hurt identify ignore imagine implement imply import impress improve include "
    "increase indicate influence inform inherit injure inspire install intend interact interest interpret "
    "introduce invade invent invest investigate invite involve join joke judge jump justify kick kill "
    "kiss knock lack land last laugh launch lead lean learn let lie lift like limit link list listen live "
    "load locate look lose love maintain make manage manufacture mark marry master match matter measure "
    "mention merge mind miss mix modify monitor motivate mount mourn move name need negotiate note notice "
    "nurture obey observe obtain occur offer open operate oppose opt order organise organize originate "
    "overhear own paint park participate pass perceive perform permit persuade phone pick plan plant play "
    "point possess post practice practise pray precede predict prefer prepare present preserve press "
    "pretend prevent print proceed process produce program promise promote prompt propose protect prove "
    "provide publish pull punish purchase pursue push put qualify question quit quote race raise reach "
    "react read realise realize receive recognise recognize recommend reconnect record recover recruit "
    "reduce refer reflect refuse regard register regret reject relate relax release rely remain remember "
    "remind remove renovate rent repair repeat replace reply report represent request require rescue "
    "research resemble resign resolve resonate respect respond rest restore result retire retrieve return "
    "reveal review reward ride risk roll rub ruin rule sail save say score scream search seek seem select "
    "send separate serve set settle share shift shop shout show shut sign skip sleep smell smile smoke "
    "solve sound spark specialize spell split spread stare start state stay stimulate stop store strain "
    "stream strengthen stress stretch struggle study submit succeed suffer suggest suit supply support "
    "suppose surprise surround survive suspect switch symbolise symbolize talk taste teach tell tend "
    "terminate test thank think throw touch tour track trade train transfer transform translate transport "
    "travel treat trigger trust try turn undergo understand unite update upgrade upload urge use value "
    "vary verify view visit volunteer vote wait walk want warn wash waste watch welcome wish wonder work "
    "worry wrap"
)
"""In the bare form; those of `forms.VERB_GROUPS` are verbs as well."""

ADJECTIVES: Final = words(
    "able afraid alive alone amazing ancient angry annual anxious appropriate available average aware "
    "awesome bad basic beautiful beloved best better big bigger biggest bitter black blue bold boring "
    "brave brief bright broad broken brown busy calm careful cheap chief clean clear clever close closed "
    "closer cold comfy common complete complex confident constant content cool correct crazy creative "
    "crucial curious current dangerous dark dead dear deep delicious desperate different difficult dirty "
    "distant double dry eager earlier earliest early easy elder eldest electric emotional empty entire "
    "essential evil exact excellent exciting existing expensive extra fair false famous fancy far fast "
    "fat favorite favourite final fine firm flat foreign formal former free frequent fresh friendly full "
    "funny future general gentle giant glad global gold good grand grateful gray great greatest green "
    "grey guilty happy hard harsh healthy heavy helpful high higher highest historic holy honest hopeful "
    "horrible hot huge hungry ideal identical ill immediate important impossible incredible independent "
    "inner innocent intense interesting internal international jealous junior keen large larger largest "
    "late later latest lazy leading legal little local lonely long longest loose loud lovely low lower "
    "lowest lucky mad main major married massive mature medical mental mere military minor missing mobile "
    "modern narrow national native natural neat necessary negative nervous new newer newest next nice "
    "nicest normal notable numerous obvious odd official old older oldest open orange ordinary original "
    "outdoor outer overall particular past perfect permanent personal physical pink plain pleasant polite "
    "political poor popular positive possible potential powerful precious pregnant present pretty "
    "previous primary prime prior private professional prominent proper proud public pure purple quick "
    "quiet random rapid rare raw ready real realistic reasonable recent red regular related relevant "
    "religious remote rich right rough round rude sad safe scary secret senior separate serious severe "
    "shallow sharp short shy sick significant silent silly similar simple single slight slow small "
    "smaller smallest smart smooth social soft solid sore sorry special specific spicy steady steep stiff "
    "straight strange strict strong strongest stupid sudden suitable sure sweet tall taller tallest "
    "temporary terrible thick thin tight tiny tired top total tough traditional tremendous true typical "
    "ugly underlying unique unknown unusual upcoming upper upset urgent useful usual vague valuable vast "
    "vegan vegetarian virtual visible vital warm weak wealthy weird well-known wet white whole wide wild "
    "willing wise wonderful wooden worse worst worth worthy wrong yellow young younger youngest"
)

ADVERBS: Final = words(
    "abroad again ago almost already also altogether always anymore anyway apart aside away back "
    "downstairs else elsewhere even ever everywhere far forever forward further hence here indoors "
    "instead just later likely maybe meanwhile more never nevertheless nonstop not now nowadays nowhere "
    "often okay once only otherwise outdoors outside overseas perhaps quite rather seldom sometime "
    "sometimes somewhat somewhere soon still straight therefore though thus together too twice upstairs "
    "very yet"
)

NOT_ADVERBS: Final = words(
    "ally anomaly assembly belly bully butterfly daily early elderly family fly folly friendly holy "
    "homily jelly july likely lily lonely lovely monopoly monthly only quarterly rally reply silly supply "
    "ugly weekly yearly"
)
"""Words in -ly that are nouns or adjectives."""

NOT_ADJECTIVES: Final = words(
    "abdominous alternative archive archives business cable captive collective detective directive drive "
    "executive fitness handful hive incentive initiative motive mouthful narrative native objective olive "
    "perspective representative spoonful syllable table timetable variable vegetable witness"
)
"""Words with the ending of an adjective that are nouns."""

NOT_PAST: Final = words("bed embed hundred infrared led red sacred seabed shed sled thread watershed wed")
"""Words in -ed that are no past forms; those in -eed are none either."""

NOUN_FIRST: Final = words("amount bit couple kind kinds lot lots name names number sort sorts type types")
"""Before `of` these only lead to what is meant."""

GENERIC: Final = words(
    "aspect case chain detail example fact instance item kind list name part person piece reason series "
    "set sort thing time type way"
)
"""Nouns that tell little of what a question is about; their plurals too."""

ACRONYMS: Final = words("AI AM BBQ CD CEO CTO CV DIY DJ DVD FAQ GPS ID MVP OK PC PDF PM TV URL VR")
"""Capitals that are no names."""

OPENERS: Final = words("according answer based compared given list name please tell")
"""What begins a question with a capital and is no name, besides verbs and function words."""

GIVEN_NAMES: Final = words("chase dawn drew faith grace grant hope mark pat rob rose sue wade")
"""Words of the lists that before another capital are people."""

UNCHANGING: Final = words(
    "become bet burst cast come cost cut hit hurt let overcome put quit read run set shut split spread"
)
"""Verbs whose bare form is their participle."""

LIGHT_GERUNDS: Final = words("being doing getting giving going having making taking trying using")
"""Never nouns."""

BE: Final = words("am are aren't arent be been being is isn't isnt was wasn't wasnt were weren't werent")
PERFECT: Final = words("had hadn't hadnt has hasn't hasnt have haven't havent having")
BEFORE_BARE: Final = words(
    "can can't cannot cant could couldn't couldnt did didn't didnt do does doesn't doesnt don't dont may "
    "might mightn't must mustn't mustnt needn't shall shan't should shouldn't shouldnt will won't wont "
    "would wouldn't wouldnt"
)
"""Auxiliaries after which a verb stands in its bare form."""


@cache
def function_words() -> dict[str, str]:
    """Function word → its universal part of speech."""
    return {word: part for part, listed in _FUNCTION.items() for word in listed.split()}


@cache
def _irregular() -> dict[str, str]:
    """Irregular form of a verb → the verb."""
    verbs = (group.split() for group in VERB_GROUPS)
    return {form: forms[0] for forms in verbs for form in forms[1:]}


@cache
def _bare_verbs() -> frozenset[str]:
    return VERBS | {group.split()[0] for group in VERB_GROUPS}


def is_bare_verb(word: str) -> bool:
    """Whether `word`, in small letters, can be a verb as it stands in a dictionary."""
    return word in _bare_verbs()


def is_past(word: str) -> bool:
    """Whether `word` can be a past form or a past participle, irregular or in -ed."""
    if word.endswith("ed") and not word.endswith("eed") and len(word) > 3:
        return word not in NOT_PAST
    if word == "born":
        return True
    verb = _irregular().get(word)
    return verb is not None and word != verb and not word.endswith("s")


def is_third(word: str) -> bool:
    """Whether `word` can be a verb in the third person: `goes`, `likes`, `tries`."""
    return word.endswith("s") and any(ending in _bare_verbs() for ending in _without_s(word))


def is_gerund(word: str) -> bool:
    """Whether `word` is a known verb with -ing."""
    if not word.endswith("ing") or len(word) < 5:
        return False
    base = word[:-3]
    undoubled = base[:-1] if base[-1:] == base[-2:-1] else base
    return any(verb in _bare_verbs() for verb in (base, base + "e", undoubled))


def is_verb(word: str) -> bool:
    """Whether `word` can be a verb in any form."""
    return is_bare_verb(word) or is_past(word) or is_third(word) or is_gerund(word)


def _without_s(word: str) -> tuple[str, ...]:
    ies = (word[:-3] + "y",) if word.endswith("ies") else ()
    es = (word[:-2],) if word.endswith("es") else ()
    return (word[:-1], *es, *ies)
