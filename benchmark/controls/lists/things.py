"""Objects and places by class: what is found in texts, and what takes its place.

What takes the place of another is of its class and its number, so that a story still makes sense: fruit for fruit, what
one puts things into for what one puts things into. Words that mean something else as well (orange, tie, dress, glass)
are in no class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Thing(NamedTuple):
    """A class: `there` are the words that are replaced, `instead` those that take their place, both as singular and
    plural, equal for words that are always plural."""

    there: Mapping[str, str]
    instead: Mapping[str, str]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(", "))


def _regular(text: str) -> dict[str, str]:
    return {word: _plural(word) for word in _words(text)}


def _plural(word: str) -> str:
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh", "mato", "tato", "ngo")) else f"{word}s"


def _always_plural(text: str) -> dict[str, str]:
    return {word: word for word in _words(text)}


OBJECTS: Sequence[Thing] = (
    Thing(
        _regular(
            "apple, apricot, banana, cherry, grapefruit, lemon, mango, melon, papaya, peach, pear, persimmon, "
            "pineapple, plum, pomegranate, strawberry, tangerine, watermelon"
        ),
        _regular(
            "fig, guava, kumquat, lychee, nectarine, pomelo, quince, rambutan, satsuma, tamarillo, medlar, mulberry, "
            "cloudberry, gooseberry, jackfruit, starfruit, tayberry, soursop"
        ),
    ),
    Thing(
        _regular(
            "broccoli, cabbage, carrot, cauliflower, celery, cucumber, eggplant, garlic, lettuce, onion, potato, "
            "pumpkin, radish, spinach, tomato, turnip, zucchini"
        ),
        _regular(
            "artichoke, celeriac, chayote, courgette, daikon, fennel, jicama, kohlrabi, leek, parsnip, rutabaga, "
            "salsify, scallion, shallot, swede, tomatillo, yam"
        ),
    ),
    Thing(_always_plural("beans, grapes, peas"), _always_plural("chickpeas, currants, lentils, peanuts, pistachios")),
    Thing(
        {
            **_regular("cardigan, hat, jacket, raincoat, shirt, skirt, sweater, sweatshirt, t-shirt, vest"),
            "scarf": "scarves",
        },
        _regular(
            "anorak, beret, blouse, bonnet, cape, hoodie, kilt, kimono, parka, poncho, sari, shawl, tunic, waistcoat"
        ),
    ),
    Thing(
        _always_plural(
            "boots, gloves, jeans, mittens, pajamas, pants, shoes, slacks, slippers, sneakers, socks, stockings, "
            "trousers, underclothes"
        ),
        _always_plural(
            "bloomers, braces, clogs, dungarees, earmuffs, galoshes, "
            "gaiters, leggings, moccasins, overalls, pyjamas, "
            "sandals, tights, wellingtons"
        ),
    ),
)
PLACES: Sequence[Thing] = (
    Thing(
        _regular("backpack, basket, box, briefcase, bucket, crate, envelope, handbag, suitcase"),
        _regular(
            "barrel, carton, canister, chest, duffel, hamper, haversack, knapsack, pail, pouch, rucksack, satchel, "
            "tub, valise"
        ),
    ),
)

CHINESE_OBJECTS: Sequence[tuple[Sequence[str], Sequence[str]]] = (
    (
        _words("苹果, 香蕉, 樱桃, 芒果, 桃子, 草莓, 西瓜, 葡萄, 菠萝, 柿子, 橘子, 柠檬, 柚子, 李子"),
        _words("荔枝, 龙眼, 枇杷, 山竹, 石榴, 木瓜, 杨梅, 椰子, 番石榴, 火龙果, 百香果, 无花果, 榴莲, 桑葚"),
    ),
    (
        _words(
            "卷心菜, 胡萝卜, 西兰花, 菠菜, 芹菜, 黄瓜, 土豆, 洋葱, 南瓜, 番茄, "
            "西红柿, 生菜, 萝卜, 茄子, 白菜, 豌豆, 玉米, 芦笋, 红薯, 辣椒"
        ),
        _words(
            "莴笋, 苋菜, 冬瓜, 丝瓜, 苦瓜, 韭菜, 山药, 莲藕, 芋头, 茼蒿, "
            "荠菜, 秋葵, 竹笋, 香菇, 木耳, 蒜苗, 油麦菜, 空心菜, 豆角, 菱角"
        ),
    ),
    (
        _words("帽子, 外套, 裙子, 衬衫, 毛衣, 围巾, 手套, 夹克, 雨衣, 背心"),
        _words("披肩, 马甲, 旗袍, 风衣, 棉袄, 斗篷, 罩衫, 头巾, 坎肩, 长袍"),
    ),
)
CHINESE_PLACES: Sequence[tuple[Sequence[str], Sequence[str]]] = (
    (
        _words("手提袋, 手提包, 公文包, 背包, 篮子, 盒子, 箱子, 水桶, 行李箱, 信封, 瓶子"),
        _words("挎包, 帆布袋, 麻袋, 竹筐, 木桶, 陶罐, 皮箱, 布袋, 纸盒, 藤篮, 瓦缸, 铁盒, 锦囊, 簸箕"),
    ),
)
