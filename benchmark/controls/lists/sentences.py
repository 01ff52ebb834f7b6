"""Sentences that bear on nothing that happens."""

SENTENCES = {
    "en": (
        "Somewhere far away, a clock struck the hour.",
        "The weather forecast had promised a mild evening.",
        "A light breeze came and went.",
        "A train could be heard in the distance.",
        "The leaves had begun to turn yellow that week.",
        "Clouds drifted slowly overhead.",
        "Two pigeons settled on a roof nearby.",
        "It was about the middle of the month.",
        "A bell rang once and fell silent.",
        "The streets were quieter than usual.",
    ),
    "zh": (
        "远处的钟敲了一下。",
        "天气预报说晚上会比较暖和。",
        "一阵微风吹过。",
        "远处传来火车的声音。",
        "那一周树叶开始变黄了。",
        "云朵在天空中慢慢飘过。",
        "两只鸽子落在附近的屋顶上。",
        "那时正是月中。",
        "铃声响了一下就停了。",
        "街上比平时安静。",
    ),
}
