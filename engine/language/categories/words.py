"""The closed tables of words that `engine.language.categories` goes by.

Small letters, in alphabetical order; `_` stands for a space in a phrase. Of a table of hints, unlike
its neighbour, one word is not enough.
"""

from __future__ import annotations

from typing import Final

FEELINGS: Final = """
    admire admired adore adored afraid aggravated agitated agony alarmed amazement amused anger angry
    anguish annoyed annoying anxiety anxious apathetic appreciation appreciative ashamed astonished awe
    be_content bereaved betrayed bittersweet blessed blessing bliss blissful bored boredom bummed bummer
    burned_out can't_wait cheerful compassion contempt crying delight delighted delightful depressed
    depressing depression despair desperate despise disappointed disappointing disappointment discouraged
    disgust disgusted distraught dread dreaded ecstatic elated embarrassed embarrassing embarrassment
    emotions empathy envious envy euphoric excited excitement exhilarating fear feared fears feel_accepted
    fell_in_love fond fondness forlorn freaked_out freaking_out frightened frustrated frustrating
    frustration fulfilled furious get_me_down glad gloomy grateful gratitude grief grieve grieving guilt
    guilty happier happiest happily happiness happy hate hated hates hatred heart_aches heart_broken
    heartbreak heartbreaking heartbroken heartwarming helpless homesick hopeful hopeless horrified
    humiliated hurtful hysterical i_love i_loved in_love in_tears infuriated insecure insulted irritated
    irritating jealous jealousy joy joyful joyous jubilant laughter let_down livid loathe loneliness
    lonely love_of love_you loving melancholy miserable misery miss_you moody mourn mourning my_love
    nervous nervousness nostalgia nostalgic optimistic outraged overjoyed overwhelmed panic panicked
    pessimistic petrified pleased pretty_exciting proud pumped rage really_appreciate really_exciting
    regret regretted rejoice relieved remorse resent resentment sad saddened sadly sadness scared serene
    serenity shame shocked so_exciting so_scary sorrow sorrowful stressed stressed_out stressful suck
    sucks tearful tears tenderness terrified terrifying thankful thrill thrilled thrilling uneasy unhappy
    upset upsetting very_exciting vulnerable we_love wept worried worrying wrath yearning you_love
"""
"""Words that name a feeling of somebody."""

FEELINGS_HINT: Final = """
    accepted appreciate appreciated belong bitter calm cherish comfort comforted comforting confidence
    courage cried crush crushed cry depressing devastated devastating emotional encouraged encouraging
    enjoy enjoyed enjoying exciting feeling feelings freeing fulfilling heart heartfelt hope hopes hurt
    inspired inspires inspiring laugh laughed laughing laughs lonely love loved loves mad meaningful moved
    moving overwhelming pain painful passion passionate passions peace peaceful proudly relief rewarding
    scary smile smiled smiling stress surprised sympathy therapeutic touched touching troubled trust warm
    wish worries worry
"""
"""Words that go with feelings."""

TECHNICAL: Final = """
    abstraction accelerometer adaptor algebra algebraic algorithm algorithmic algorithms alkaloid allele
    amino amplifier analytics android api apis ascii async authentication autosomal axiom axioms backend
    backlinks bandwidth benchmark benchmarks binary biochemical biochemistry bitcoin blockchain boolean
    bootloader browser browsers bug_report bugfix bugs byte bytecode bytes cache cached caching calculus
    capacitor carburetor catalyst chipset chromium chromosome chromosomes cli cms codebase coefficient
    combinatorial command_line compile compiled compiler compilers computation computational config
    configuration cpu crypto cryptographic cryptography css csv cybersecurity daemon data_structure
    database databases dataset datasets dbms debian debug debugger debugging decryption devops
    differential diode directory dna dns docker dockerfile domain_name eigenvalue electrode electrolyte
    electromagnetic electron electrons emacs email_server embedding encoding encryption endpoint enzyme
    enzymes ethernet exoplanet filename filenames filesystem firefox firewall firmware floating_point
    fortran frontend fuselage gearbox genetic genetics genome genomic geometry git github gitlab gnu gps
    gpu graphql gui hadoop hardware hash_function hashing haskell hemoglobin html http https hydraulic
    hyperlink hypervisor ide imap indexer integer integers interpreter ios iot java javascript jet_engine
    json jupyter kernel kernels kubernetes lambda laptop latency latex ligand linux lisp localhost
    logarithm logarithmic lossless machine-readable machine_learning macos malware markdown mathematical
    mathematics matrices mediawiki megabyte metabolic metabolism metadata microbial microchip
    microprocessor middleware mitochondria mobile_app molecular molecule molecules mongodb motherboard
    mutex mysql nanoparticle neural neuron neurons nginx npm nuclear-powered nuclear_reactor nucleotide
    ontology opcode open-source open_source operating_system orthogonal oscillator oxidation parser
    parsing pathogen pdf peer-to-peer peptide photon php pixel pixels plugin plugins polymer polynomial
    postgres postgresql potassium preprocessor programmer programmers programming protein proteins
    protocol protocols proton protons proxy_server pull_request pull_requests python quantum
    quantum_computing qubit rdf react_native recursion recursive redis refactor refactoring regex
    regression relational repo repos repository resistor rest_api reverse_proxy rfc rna robotics router
    ruby_on_rails runtime scalar schema scsi sdk semiconductor semiconductors server servers shell_script
    sodium software source_code spacecraft spectrometer spreadsheet sql sqlite ssh ssl stack_trace
    stacktrace stylesheet subnode subnodes subroutine svg syntax sysadmin tcp telemetry tensor theorem
    theorems thermodynamic thermodynamics thread_pool throughput timestamp tls toolchain topology
    transistor transistors turbine typescript ubuntu udp unicode unit_test unit_tests unix url urls usb
    user_interface uuid vector_space virtual_machine virtualization visual_studio voltage web_standards
    webassembly webhook websocket wi-fi wifi wiki wikilink wikilinking wikilinks wikis window_manager
    workflow xml yaml
"""
"""Words of computing, engineering, mathematics and the sciences."""

TECHNICAL_HINT: Final = """
    acute acyclic app append apps array automated automatically battery bit bits blocks bot cable
    calculate calculated circuit code coding command commands commit compute computer computers computing
    connect connects cortex curve curves data default deploy derivative desktop developer developers
    device devices digital disorder download editor electrical electronic elliptic engine engineer
    engineering equation error errors file files folder format formula framework frequency function
    functions gradient graph graphics hash hosting install installation installed interface internet
    keyboard lightweight link links login manual markup measured metric muscle network node nodes notation
    optical optimize package packages page pages parameter parameters password platform processor program
    query queue radio reactor render rendering robot robots script search semantic sensor sensors settings
    simulation site slider specification sync synthesis taskbar technical technology terminal test testing
    thread tool tools user users variable variables vector version versions web website wire wireless
"""
"""Words of daily life that such texts use, too."""

TRADE: Final = """
    acquisition airline airlines antitrust auditor auditors bank_account banker bankers banking bankrupt
    bankruptcy billionaire bonds bookkeeping brand_name brewery brewing broker brokerage business
    businesses businessman businesswoman cash_flow ceo cfo cofounder commerce commercially commodities
    companies company conglomerate consultancy consumers coo corporate corporation corporations
    cryptocurrency currency customer customers debt dividend dividends dollars e-commerce earnings
    economic economics economies economy employees employer entrepreneur entrepreneurial entrepreneurs
    entrepreneurship equity euros export_market exporter finance finances financial financier financing
    fintech firm firms fiscal franchisee freelancer gdp grocery_chain headquartered hedge_fund
    holding_company import_export inc industrial industries inflation insurance insurer invested investing
    investments investor investors ipo layoff layoffs lender lending llc loan loans lost_my_job ltd
    manufacturer manufacturers manufactures market_share marketer marketing marketplace merchant merchants
    merger mergers million_dollars millionaire monopoly mortgage multinational nonprofit oil_and_gas
    oil_industry outsourcing payroll pharmaceutical_industry plc private_equity procurement profit
    profitable profits publicly_traded quarterly_report real_estate rebranded recession restaurant_chain
    retail retailer retailers revenue revenues salaries salary sales securities seed_round shareholder
    shareholders shipping_company small_business startup startups stock_exchange stock_market stockholder
    stockholders subsidiaries subsidiary supplier suppliers supply_chain tariff tariffs tax taxation taxes
    the_industry trademark trading treasury turnover vendor vendors venture_capital wholesale wholesaler
    workforce
"""
"""Words of companies, markets and money."""

TRADE_HINT: Final = """
    accounts asset assets bank banks bills brand brands budget chain charge charged cheap client clients
    clothing commercial contract copyright corp cost costs discount distribution economical expansion
    expensive export exports factory fee fees founded founder fund funded funding funds goods gross hired
    hiring import imports income industry investment logo market markets merchandise merged mining money
    office ordering pay paying payment payments pension price prices production products promotion
    purchase purchased purchasing rent sale sector sell selling sold spending sponsor sponsored sponsors
    sponsorship stake stock stocks store stores supply traded wage wages warehouse wealth
"""
"""Words of daily life that such texts use, too."""

CAUSES: Final = """
    accounted_for_the accounting_for_the accounts_for_the arise_due arise_from arises_due arises_from
    arising_from arose_from as_a_consequence as_a_consequence_of as_a_result attributable_to attributed_to
    because because_of bring_about brought_about by_virtue_of cause_of caused caused_by caused_the causes
    causes_of causes_the causing consequence_of consequences_of consequently contributed_to contributes_to
    cuz due_to for_fear_of for_that_reason for_this_reason gave_rise_to give_rise_to given_that
    gives_rise_to hence is_why lead_to leading_to leads_to led_to meaning_that on_account_of owing_to
    prompted_by prompted_the reason_for reason_why reasons_for result_from result_in result_of
    resulted_from resulted_in resulting_from resulting_in results_from results_in since_it's since_there
    since_they're since_we're since_you're since_your so_that stem_from stemmed_from stems_from
    thanks_to_the that's_why that_is_why thats_why the_reason thereby therefore this_is_why thus
    triggered_by triggering which_is_why which_means_that
"""
"""Words and phrases that join a cause and its effect."""

TIMES: Final = """
    a_while_ago a_while_back afternoon ago anniversary at_that_time at_the_time back_then centuries
    century christmas day_later days_later earlier_this earlier_today easter evening every_morning
    fortnight halloween hanukkah in_the_morning last_couple last_few lately midnight monday_morning
    month_later months_later new_year next_couple next_few noon not_long_ago nowadays o'clock past_couple
    past_few pm ramadan recently since_then thanksgiving the_day_after the_day_before the_following_day
    the_following_year the_next_day the_other_day the_same_day the_same_year the_year_before this_morning
    today tomorrow tomorrow_morning tonight week_later weekday weekdays weekend weekends weeks_later
    year_later years_later yesterday yesterday_morning
"""
"""Dates, times of day and relative times, as words."""

WEEKDAYS: Final = """
    friday fridays monday mondays saturday saturdays sunday sundays thursday thursdays tuesday tuesdays
    wednesday wednesdays
"""
"""Days, capital letter or not."""

MONTHS: Final = "april august december february january july june november october september"
"""Those that are nothing else."""

MONTHS_SHORT: Final = "apr aug dec feb jan jul jun mar march may nov oct sep sept"
"""Times only beside a number: `may` and `march` are verbs, the others names or syllables."""

POINTING: Final = """
    coming during each early every following in last late mid next past previous since this until
"""
"""What makes a span a time, as in `last week`; from `each` on only a season."""

SPANS: Final = """
    april august autumn day decade december fall february friday hour january july june minute monday
    month morning night november october quarter saturday season semester september spring summer sunday
    term thursday tuesday wednesday week weekend winter year
"""
"""What a time seen from now is counted in."""

SEASONS: Final = "autumn spring summer winter"

SEQUELS: Final = """
    after afterwards before eventually finally later meanwhile then until when while
"""
"""What tells that one thing came after another."""

WHERE: Final = """
    capital_of city_of east_of inhabitants latitude located longitude north_of situated south_of town_of
    uninhabited village_of west_of
"""
"""Words that only places are told with."""

PLACE_NOUNS: Final = """
    airport avenue bay beach boulevard bridge campsite campus canyon castle cathedral cave city cliff
    coast continent countryside county desert district downtown farm forest harbor harbour hill hills
    hometown island islands jungle lake meadow mountain mountains museum ocean outskirts palace park
    peninsula pier plaza pond port province region resort river road sea seaside shore square station
    street suburb suburbs town trail tunnel valley venue village waterfall woods zoo
"""
"""Kinds of places, as in `at the beach`."""

PLACE_TITLES: Final = """
    airport avenue barracks basin bay beach boulevard bridge canyon castle cathedral cemetery church city
    coast college county creek desert district drive falls forest fort gardens glacier gulf harbor harbour
    heights hills hospital hotel island islands isle lake lane library mall monument mount mountain
    mountains museum ocean palace park peninsula plains plateau plaza point port province ranch range
    region republic reservoir river road school sea square stadium station strait street suburb temple
    territory town township university valley village woods zoo
"""
"""What a name of a place has in it, beside another capitalised word."""

PLACES: Final = """
    afghanistan africa alabama alaska albania algeria alps amazon america americas amsterdam andes andorra
    angola ankara antarctica antwerp appalachia arabia arctic argentina arizona arkansas armenia asia
    athens atlanta atlantic auckland austin australia austria azerbaijan baghdad bahamas bahrain bali
    balkans bangalore bangkok bangladesh barbados barcelona bavaria beijing beirut belarus belfast belgium
    belgrade belize benin berkeley berlin bermuda bhutan birmingham bogota bogotá bolivia bombay bonn
    bordeaux bosnia boston botswana brazil brisbane bristol britain brittany brooklyn brunei brussels
    bucharest budapest buenos_aires bulgaria burma burundi cairo calcutta calgary california cambodia
    cambridge cameroon canada canberra cape_town caracas caribbean catalonia chad charlotte chennai
    chicago chile china cincinnati cleveland cologne colombia colorado congo connecticut copenhagen
    cornwall costa_rica crete croatia cuba cyprus czech_republic czechia czechoslovakia dakar dallas
    damascus delaware delhi denmark denver detroit dhaka djibouti dubai dublin ecuador edinburgh egypt
    el_salvador england eritrea estonia ethiopia europe everest fiji finland flanders florence florida
    france frankfurt gabon galicia gambia gaza geneva georgia germany ghana gibraltar glasgow gothenburg
    grand_canyon great_britain greece greenland grenada guam guatemala guinea guyana hague haiti hamburg
    hanoi hawaii helsinki himalayas holland honduras hong_kong houston hungary hyderabad iceland idaho
    illinois india indiana indonesia iowa iran iraq ireland islamabad israel istanbul italy ivory_coast
    jakarta jamaica japan jerusalem johannesburg jordan judea kabul kansas kansas_city karachi karnataka
    kashmir kathmandu kazakhstan kentucky kenya kerala kiev kolkata korea kosovo kuwait kyiv kyoto
    kyrgyzstan lagos lahore lancashire laos las_vegas latvia lebanon leeds leipzig lesotho liberia libya
    liechtenstein lima lincoln lisbon lithuania little_rock liverpool ljubljana london long_island
    los_angeles louisiana luxembourg lyon macau macedonia madagascar madison madrid maharashtra maine
    malawi malaysia maldives mali malta manchester manhattan manila marseille maryland massachusetts
    mauritius mecca mediterranean melbourne memphis mexico miami michigan middle_east milan milwaukee
    minneapolis minnesota minsk mississippi missouri moldova monaco mongolia montana montenegro montreal
    morocco moscow mozambique mumbai munich myanmar nairobi namibia naples nashville nebraska nepal
    netherlands nevada new_delhi new_england new_guinea new_hampshire new_haven new_jersey new_mexico
    new_orleans new_south_wales new_york new_zealand nicaragua niger nigeria norfolk normandy
    north_america north_carolina north_dakota north_korea northern_ireland norway nottingham oakland
    oceania ohio oklahoma oman ontario oregon orlando osaka oslo ottawa oxford pacific pakistan palestine
    palestinian panama paraguay paris pennsylvania persia perth peru philadelphia philippines phoenix
    pittsburgh poland polynesia portugal prague provence prussia puerto_rico punjab pyongyang qatar quebec
    queensland reykjavik rhode_island rio_de_janeiro romania rome rotterdam russia rwanda saint_petersburg
    salt_lake_city samoa san_antonio san_diego san_francisco san_jose san_rafael santa_barbara santa_cruz
    sao_paulo sarajevo sardinia saskatchewan saudi_arabia savannah scandinavia scotland seattle senegal
    seoul serbia seville shanghai sheffield siberia sicily sierra_leone silicon_valley singapore slovakia
    slovenia sofia somalia south_africa south_america south_australia south_carolina south_dakota
    south_korea soviet_union spain springfield sri_lanka stanford stockholm sudan suriname surrey sussex
    sweden switzerland sydney syria são_paulo taipei taiwan tajikistan tampa tanzania tasmania tehran
    tel_aviv tennessee texas thailand tibet tobago togo tokyo toronto transylvania trinidad tunisia turin
    turkey turkmenistan tuscany u_._k u_._s uganda ukraine united_kingdom united_states uruguay usa utah
    uzbekistan vancouver vatican venezuela venice vermont victoria vienna vietnam virginia wales warsaw
    washington wellington wembley west_indies west_virginia western_australia wisconsin wyoming yemen
    yorkshire yugoslavia zagreb zambia zanzibar zimbabwe zurich zürich
"""
"""Countries, states, regions and large cities, in English; with a capital letter only."""

PAST: Final = """
    ate became began bought broke brought built came caught chose cut did drank drew drove fell felt flew
    forgot fought found gave got grew had heard held hid hit hurt kept knew led left let lost made met
    paid put ran read rode rose said sang sat saw sent set shot showed slept sold spent spoke stole stood
    swam taught thought threw told took understood was went were woke won wore wrote
"""
"""Irregular past tenses."""

ELIDED: Final = """
    ate came did drove felt flew got had met ran saw slept spoke took was went woke wrote
"""
"""Past tenses that begin a line of a diary, without who it was."""

ADVERBS: Final = """
    actually already also always briefly even eventually finally first initially just later never once
    only probably really recently soon still subsequently then usually
"""
"""What may stand between somebody and what they did."""

YEAR_BEFORE: Final = "around between by c circa from in since until year"
"""What stands before a year."""

IN: Final = "across around in near outside throughout"
"""What stands before a place, known or not."""

AT: Final = """
    across around at by from in inside into near of on outside through throughout to toward towards
"""
"""What stands before a known place."""

DETERMINERS: Final = "a an her his my our that the their this your"
"""What stands before a kind of place."""

CLAUSE_ENDS: Final = "and as at because by for from in last on or since this to when where with"
"""What stands after a place that is not known."""

SO: Final = "he her his i it its my our she so that's their there they this we you"
"""After `so`: a reason was given."""

NOW: Final = "he's i'm it's she's there's they're we're you're"
"""After `since`: a reason, not a time."""

CAN: Final = "can could may might will would"
"""Shortly after `so`: what something is for."""
