"""The closed tables by which categories tell people from other things with capital letters."""

from __future__ import annotations

from typing import Final

NAMES: Final = """
    aaron abby abdul abdullah abel abhishek abigail abraham ada adam addison adele adrian adriana agatha
    agnes ahmad ahmed aidan aiden aishwarya akira alan alana albert alberto alec alejandra alejandro
    alessandro alex alexa alexander alexandra alexandre alexei alexis alfred alfredo ali alice alicia
    alina alison allan allen allison alma alvin alyssa amanda amber amelia amelie amir amit amy ana
    anastasia anders andre andrea andreas andrei andres andrew andy angela angelina angelo angie anil
    anita anjali ann anna annabelle anne annette annie anthony antoine antoinette anton antonia antonio
    antony anwar april ariana ariel arjun arlene armando arnold arthur arturo asha ashley ashton astrid
    aubrey audrey august augusta aurora austin autumn ava avery axel ayesha barbara barney barry bart
    beatrice beatriz becky bella ben benedict benjamin bennett bernadette bernard bernie bertha bessie
    beth bethany betty beverly bianca bill billie billy bjorn blair blake bob bobby bonnie boris brad
    bradley brady brandon brenda brendan brett brian brianna bridget britney brittany brock bruce bruno
    bryan bryce bryson caleb callum calvin cameron camila camille candace cara carl carla carlo carlos
    carlton carly carmen carol carole caroline carolyn carrie casey cassandra cassidy catalina catherine
    cathy cecil cecilia cedric celeste celia celine cesar chad charlene charles charlie charlotte chelsea
    cheryl chester chiara chloe chris christa christian christina christine christoph christopher chuck
    cindy claire clara clarence clark claude claudia clayton clement cliff clifford clint clinton clyde
    cody colin colleen connie connor conrad constance consuelo cora corey cornelius courtney craig
    cristina crystal curtis cynthia daisy dakota dale damian damien damon dan dana daniel daniela daniele
    danielle danny daphne darius darlene darrell darren daryl dave david davide dawn dean deanna debbie
    deborah debra deepak delia delilah della deng denise dennis derek desmond dexter diana diane diego
    dieter dilip dimitri dina dinesh dirk dmitri dmitry dolores dominic dominique don donald donna dora
    doreen doris dorothy doug douglas drew duncan dustin dwayne dwight dylan earl ed eddie edgar edith
    edmund eduardo edward edwin eileen elaine eleanor elena eli elias elijah elisa elisabeth elise eliza
    elizabeth ella ellen ellie elliot elliott elmer eloise elsa elsie elton elvis emil emilia emilie
    emilio emily emma emmanuel eric erica erich erik erika erin ernest ernesto ernst esther ethan ethel
    eugene eva evan evelyn ezra fabio faith farah farid fatima felicia felicity felipe felix fernanda
    fernando finn fiona florence floyd frances francesca francesco francis francisco franco francois frank
    frankie franklin franz françois fred freddie frederic frederick freya frida friedrich fritz gabriel
    gabriela gabrielle gail gareth garrett gary gavin gemma gene genevieve geoff geoffrey george georgia
    georgina gerald geraldine gerard gerardo gerhard gertrude giacomo gianna gideon gilbert gina ginny
    giorgio giovanni giulia giuseppe gladys glen glenda glenn gloria gordon grace graham grant greg
    gregory greta gretchen guadalupe guido guillermo gunther gus gustav gustavo guy gwen gwendolyn géza
    hamza hank hanna hannah hans harold harper harriet harrison harry haruki harvey hasan hassan hazel
    heather hector heidi heinrich helen helena helene helga henri henrietta henrik henry herbert herman
    hermann hilary hilda hiro hiroshi holly homer hope horace howard hubert hugh hugo hunter hussein ian
    ibrahim ida ignacio igor imran indira ines ingrid ira irene irina iris irma irving isaac isabel
    isabella isabelle isaiah ismail ivan ivana ivy jack jackie jackson jacob jacqueline jacques jade jaime
    jake jamal james jamie jan jana jane janet janice janine jared jasmine jason jasper javier jay jayne
    jean jeanette jeanne jeff jefferson jeffrey jenna jennifer jenny jeremiah jeremy jerome jerry jesse
    jessica jessie jill jim jimmy jing joan joann joanna joanne joao joaquin jocelyn jodie joe joel joelle
    joey johan johann johanna johannes john johnny jolene jon jonah jonas jonathan jonathon jonny jordan
    jorge jose josef joseph josephine josh joshua josie josé joy joyce juan juanita judith judy julia
    julian juliana julie juliet julio julius june jurgen justin justine kai kamal kara karen karim karin
    karina karl karla kate katharine katherine kathleen kathryn kathy katie katrina kay kayla keith kelly
    kelvin ken kendra kenji kenneth kenny kenta kevin khalid kiara kim kimberly kirk kirsten klaus kristen
    kristin kristina kumar kurt kyle lana lance lara larry lars laszlo laura lauren laurence laurie
    lawrence lea leah lee leila lena leo leon leonard leonardo leroy leslie lester leticia levi lewis liam
    lidia lila lilian lillian lily lina linda lindsay lindsey linus lionel lisa liz liza lloyd logan lois
    lola lorena lorenzo loretta lorraine lou louis louisa louise lucas lucia lucille lucy luigi luis luisa
    luke luna luther lydia lyle lynn mabel mack mackenzie maddie madeleine madeline madison mae maggie
    malcolm mandy manuel mara marc marcel marcella marcia marco marcos marcus margaret margarita margie
    margot maria mariah marian mariana marianne marie mariko marilyn marina mario marion marisa marissa
    marjorie mark marlene marlon marsha marshall marta martha martin martina marty marvin mary mason mateo
    mathew matilda matt matteo matthew matthias maude maureen maurice mauricio mavis max maxine maxwell
    maya megan mehmet mei mel melanie melinda melissa melvin mercedes meredith mia micah michael michaela
    micheal michel michele michelle miguel mike mikhail mila mildred miles milo milton mimi mina mindy
    minnie miranda miriam misha mitch mitchell mohamed mohammad mohammed moira mollie molly mona monica
    monique morgan morris moses muhammad muriel murray mustafa myra myrtle nadia nadine naoko naomi
    natalia natalie natasha nate nathan nathaniel neal ned neil nell nellie nelson nia nicholas nick
    nicola nicolas nicole nigel nikita nikolai nina noah noel noelle nora norma norman olaf oleg olga
    oliver olivia ollie omar onur ophelia oscar osman otis otto owen pablo paige pam pamela paola paolo
    pat patricia patricio patrick patsy patti patty paul paula paulina pauline paulo pavel pearl pedro
    peggy penelope penny percy perry pete peter petra phil philip philippe phillip phoebe phyllis pierre
    piotr polly preston priscilla priya quentin quincy rachel rafael rahul raj rajendra rajesh ralph ramon
    ramona randall randy rani raphael raquel rashid raul ravi ray raymond rebecca reggie regina reginald
    reid rene renee rex ricardo richard rick ricky riley rita rob robert roberta roberto robin robyn rocco
    rod roderick rodney rodolfo rodrigo roger rohan roland rolf roman romeo ron ronald ronnie rory rosa
    rosalie rosalind rosario rosemary rosie ross roxanne roy ruben ruby rudolf rudy rufus rupert russ
    russell ruth ryan sabrina sadie saif sally salman salvador sam samantha samir sammy samuel sandra
    sandy sanjay santiago sara sarah sasha satoshi saul savannah scott sean sebastian selena selma serena
    sergei sergey sergio seth shane shannon sharon shaun shawn sheila shelby shelley sherry shirley sidney
    sierra sigmund silvia simon simone sofia sonia sonya sophia sophie spencer stacey stacy stan stanley
    stefan stefano stella stephanie stephen steve steven stewart stuart sue suresh susan susana susanna
    susanne suzanne suzy sven svetlana sybil sydney sylvester sylvia tabitha tamara tammy tania tanya tara
    tariq tasha ted terence teresa terrence terry tess tessa thelma theo theodore theresa thomas tiffany
    tim timothy tina tobias toby todd tom tomas tommy tomoko toni tony tracey tracy travis trevor tricia
    trisha tristan troy trudy tyler tyrone ursula valentina valerie vanessa vera vernon veronica vic vicky
    victor victoria vijay viktor vince vincent viola violet virginia vivek vivian vladimir wade wallace
    walter wanda warren wayne wei wendell wendy wesley wilbur wilfred wilhelm will willa william willie
    wilma winifred winston wolfgang woody xavier yasmin yoko yolanda yosef yuki yuri yusuf yves yvette
    yvonne zach zachary zack zainab zara zelda zoe zoey
"""
"""Given names that are common in English texts, and what they are shortened to."""

NAMES_HINT: Final = """
    amber april august aurora austin autumn axel bill bob brady brock chad chelsea christian chuck cliff
    crystal daisy dakota dale dawn dean deng don drew earl faith florence frank gene georgia glen grace
    grant guy harper hope hunter ida ira iris ivy jack jackson jade jan jay jing jordan joy june kim lance
    lea lee lena lily logan lou luna mack mae mark mason max mei mercedes miles milo mimi mina mitch
    morris nelson norma oscar pat patty pearl penny perry ray rex rob robin rod roman rosa ruby salvador
    sandy savannah scott sierra sofia spencer sue sydney tara tess troy victoria viola violet virginia
    wade warren wei will woody
"""
"""Of these, those that are also words or places: names only with another capitalised word after them."""

HONORIFICS: Final = """
    aunt auntie bishop captain chancellor coach colonel dr general governor grandma grandpa judge king
    lady lord miss mr mrs ms pastor pope president prince princess prof professor queen senator sir uncle
"""
"""Before a name, and part of it."""

ROLES: Final = """
    actor actors actress actresses artist author authors bassist boss boyfriend brother colleague composer
    cousin daughter director directors drummer father featuring friend friends girlfriend guitarist
    husband journalist mother musician named nephew niece novelist painter philosopher player poet
    politician producer scientist singer singers sister son starred starring stars vocalist wife writer
    writers
"""
"""What stands before the name of a person."""

SPEAKING: Final = """
    argued argues asked asks believes explained explains laughed nodded replied replies said says smiled
    tells thinks told writes wrote
"""
"""What a person does whose name stands before it."""

NO_SPEAKERS: Final = """
    abstract action address after agenda also answer author background before bonus caution caveat clock
    con conclusion cons contact content context date deadline definition description details due edit
    editor email end error example examples fact faq final footnote from goal goals hint history homework
    idea image important info input intro issue item label language license link links list location
    logbook lyrics main meaning menu meta method motto name next node note notes object output overview
    owner page password phase phone photo picture plot point postscript pro problem project proof
    properties pros purpose question quote reference references related reminder result results risk rule
    rules score see sidebar solution source spoiler start status step story sub subject summary tag tags
    task tasks theorem tip title topic topics total type update usage user value version via video warning
    website word words
"""
"""What stands before the first colon of a line and is nobody who speaks."""

ORGANIZATIONS: Final = """
    academy agency airlines airways album association authority award awards band bank books broadcasting
    bros bunch bureau center centre championship church club coalition commission committee company
    conference corporation council court cup department division enterprises entertainment festival film
    films foundation fund games government group guild hall high house inc industries institute
    institution international journal labs language league limited line llc ltd magazine magazines
    ministry movie movies museums network news office orchestra organization party pictures plant
    presidential press prize productions project publications publishing radio railroad railway records
    research review schools senate series shipping show society software song studio studios summit
    symphony system systems team technologies technology television theater theatre tomb tour trophy trust
    tv union united war world
"""
"""What stands in a row of capitalised words that is no person."""

GREETINGS: Final = """
    absolutely awesome bye cheers congrats cool dear exactly goodbye great hello hey hi nice no nope ok
    okay right sorry sure thank thanks true wow yeah yep yes
"""
"""What stands before the name of somebody spoken to."""

PARTICLES: Final = "al bin da de den der di du ibn la le van von"
"""Between parts of a name, in small letters."""

SHORT_FORMS: Final = "dr jr mr mrs ms prof st"
"""What has a dot within a name."""

NOUN_ENDINGS: Final = "al ance ary ed ence est ics ing ion ism ity ive ment ness s ure"
"""How words end that are no names."""
