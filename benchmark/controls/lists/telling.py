"""Words that tell whether a name beside them is somebody's: what people do, what they are called and have, and what
goes with things and places."""

from __future__ import annotations

import re

_DOING = """
    accept admire admit advise agree answer apologize appreciate argue arrange arrive ask attempt attend believe
    blame blush book borrow break bring bump buy call care carry catch celebrate check cheer choose clap claim
    clean climb close come comfort complain conclude confess consider continue cook cough count criticize cry
    dance decide defend deny describe deserve dictate disagree discover discuss dislike doubt draw dream dress
    drink drive drop eat encourage encounter enjoy enter escape exclaim exit expect explain explore express face
    fail fall fear feel fight find finish fix forget forgive frown gather get give glance go gossip grab greet
    guess handle hang happen hate have hear help hesitate hide hire hit hold hop hope hug ignore imagine ingest
    inspect insist intend interrupt introduce invite join joke jump keep kick kiss know laugh lead learn leave
    lend lie lift listen live look lose love make manage marry meet mention miss mistake misunderstand mock move
    need nod notice observe offer open order overhear own pack paint participate pass pay pick plan play point
    practice praise prefer prepare present pretend promise propose pull put quarrel raise reach react read
    realize receive recognize recommend record refuse regret remember remind repair repeat reply report request
    respect respond rest return ride rush run save say scold search see seem sell send shake share shout show
    sigh sing sit sleep smell smile speak spend stand stare start stay step stop study succeed suggest suspect
    swim take talk taste teach tear tease tell thank think throw touch travel treat trust try turn understand
    use visit wait wake walk wander want warn wash watch wave wear welcome whisper win wink wish wonder work
    worry write yell
"""
_PAST = """
    ate began bought broke brought came caught chose drank drew drove fell felt forgave forgot found fought gave
    got had heard held hid hit hung kept knew led left lent lost made meant met misunderstood overheard paid put
    ran read rode said sang sat saw sent shook shook slept sold spent spoke stood swam taught thought threw told
    took tore understood was went woke won wore wrote
"""


def _third(verb: str) -> str:
    if verb == "have":
        return "has"
    if re.search("[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "x", "ch", "sh", "o")) else f"{verb}s"


def _regular_past(verb: str) -> str:
    if re.search("[^aeiou]y$", verb):
        return f"{verb[:-1]}ied"
    return f"{verb}d" if verb.endswith("e") else f"{verb}ed"


VERBS = frozenset(
    form for verb in (*_DOING.split(), "begin") for form in (_third(verb), _regular_past(verb), verb) if form != "book"
) | frozenset(_PAST.split()) - {"was"}
"""Verbs of people, of doing, saying, feeling and thinking, in the forms that follow a name."""
MINDS = (
    "afraid", "allergic", "angry", "anxious", "aware", "busy", "clueless", "confused", "curious", "disappointed",
    "drunk", "embarrassed",
    "excited", "happy", "hungry", "interested", "jealous", "late", "married", "nervous", "proud", "ready", "sad", "shy",
    "sick", "sorry",
    "surprised", "thirsty", "tired", "unaware", "unhappy", "upset", "worried",
)  # fmt: skip
"""Adjectives of people."""
ROLES = (
    "abbot", "actor", "actress", "artist", "assistant", "athlete", "aunt", "baby", "boss", "boy", "boyfriend",
    "brother", "candidate",
    "captain", "chef", "child", "classmate", "clerk", "coach", "colleague", "competitor", "consultant", "cook",
    "cousin", "customer", "dad",
    "daughter", "deputy", "designer", "director", "doctor", "driver", "editor", "employee", "engineer", "enthusiast",
    "executive", "expert",
    "fan", "farmer", "father", "florist", "friend", "girl", "girlfriend", "granddaughter", "grandson", "guest", "guide",
    "housewife",
    "husband", "intern", "journalist", "judge", "kid", "lady", "lawyer", "leader", "librarian", "lover", "man",
    "manager", "member",
    "mother", "musician", "neighbor", "neighbour", "nephew", "niece", "nurse", "officer", "opponent", "organizer",
    "owner", "painter",
    "parent", "partner", "person", "photographer", "player", "president", "professional", "professor", "programmer",
    "researcher",
    "resident", "robot", "roommate", "salesperson", "scientist", "secretary", "singer", "sister", "son", "soldier",
    "student", "supervisor",
    "tailor", "teacher", "teammate", "tenant", "traveler", "uncle", "volunteer", "waiter", "wife", "winner", "woman",
    "worker", "writer",
    "zookeeper",
)  # fmt: skip
"""Nouns of people, to others and by trade."""
TITLES = (
    "Agent", "Assistant", "Aunt", "Auntie", "Bald", "Boss", "Brother", "Captain", "Chairman", "Chef", "Coach", "Da",
    "Director", "Doctor",
    "Dr", "Engineer", "Farmer", "General", "Grandfather", "Grandma", "Grandmother", "Grandpa", "Granny", "Lady",
    "Lawyer", "Little",
    "Madam", "Madame", "Manager", "Master", "Minister", "Miss", "Monk", "Mr", "Mrs", "Ms", "Neighbor", "Nurse",
    "Officer", "Old",
    "President", "Principal", "Prof", "Professor", "Secretary", "Sir", "Sister", "Supervisor", "Teacher", "Uncle",
    "Young",
)  # fmt: skip
"""Words before a name that somebody is called by."""
HAVING = (
    *ROLES, "action", "actions", "attitude", "behavior", "birthday", "eyes", "face", "family", "feeling", "feelings",
    "emotion", "emotions",
    "hand", "hands", "head", "heart", "house", "husband", "idea", "mind", "mom", "mood", "office", "opinion", "parents",
    "friends",
    "classmates", "colleagues", "perspective", "reaction", "shoulder", "son's", "thoughts", "voice", "work", "words",
)  # fmt: skip
"""Possessions of people."""
ADDRESSED = (
    "accompany", "accuse", "advise", "apologize to", "ask", "blame", "comfort", "convince", "criticize", "encourage",
    "explain to",
    "glance at", "greet", "help", "hug", "introduce", "invite", "laugh at", "lie to", "look at", "marry", "meet",
    "miss", "persuade",
    "praise", "remind", "reply to", "respond to", "say to", "scold", "shout at", "shout to", "smile at", "speak to",
    "stare at", "talk to",
    "talk with", "tease", "tell", "thank", "wave at", "wave to", "whisper to", "wink at",
)  # fmt: skip
"""Verbs whose object is a person."""


def _addressing() -> list[str]:
    forms = []
    for phrase in ADDRESSED:
        verb, space, to = phrase.partition(" ")
        irregular = {"meet": "met", "say": "said", "speak": "spoke", "tell": "told", "lie": "lied"}
        past = irregular.get(verb) or _regular_past(verb)
        forms += [form + space + to for form in (verb, _third(verb), past, f"{verb.removesuffix('e')}ing")]
    return forms


ADDRESSING = tuple(_addressing())
PLACE_WORDS = (
    "app", "asteroid", "brand", "city", "county", "galaxy", "island", "lake", "moon", "mount", "mountain", "nebula",
    "planet", "province",
    "river", "satellite", "town", "village",
)  # fmt: skip
"""Words before the name of a place or thing."""
PLACES_AND_WORKS = (
    *PLACE_WORDS, "book", "chamber", "company", "country", "dynasty", "film", "forest", "game", "laboratory", "movie",
    "novel", "orbit",
    "place", "region", "restaurant", "road", "school", "shop", "space station", "station", "store", "street", "tower",
    "university",
    "valley", "world",
)  # fmt: skip
"""Words behind such a name, or before it as the thing that is called so."""
_FAMILIES = """
    Ai An Bai Bian Cai Cao Chang Chen Cheng Cui Dai Deng Ding Dong Du Duan Fan Fang Feng Fu Gao Gong Gu Guo Han
    Hao He Hou Hu Hua Huang Ji Jia Jiang Jin Kang Kong Lai Lei Li Liang Liao Lin Liu Long Lu Luo Lv Ma Mao Mei
    Meng Mu Ni Nie Ning Ouyang Pan Peng Qian Qiao Qin Qiu Qu Ren Rui Shao Shen Shi Song Su Sun Tan Tang Tao Tian
    Tong Wan Wang Wei Wen Wu Xia Xiang Xiao Xie Xiong Xu Xue Yan Yang Yao Ye Yi Yin Yu Yuan Yue Zeng Zhang Zhao
    Zheng Zhong Zhou Zhu Zou
"""
SURNAMES = frozenset(_FAMILIES.split())
"""Family names of China as they are written in Latin letters, which stand first."""
_INITIAL, _FINAL = "(?:zh|ch|sh|[bpmfdtnlgkhjqxrzcsyw])", "(?:[aeiou]{1,3}(?:ng|n|r)?)"
PINYIN = re.compile(rf"(?:{_INITIAL}?{_FINAL}){{1,2}}", re.IGNORECASE)
"""One syllable of Chinese in Latin letters, or two."""
