"""Names that take the place of others.

Each is given to women and men alike, so that the pronouns of a story stay right, and none is an English word.
"""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


PEOPLE = _words("""
    Adanna Akira Amarjit Anh Ayodele Balwinder Camille Deniz Dominique Dorji Evren Farai Gurpreet Haneul Harpreet
    Hikaru Ilkay Jaswinder Jiwoo Jyoti Kagiso Kaoru Kiran Kulwinder Lerato Lesedi Linh Makoto Manpreet Minseo Nikola
    Nilufar Noam Noor Oluwaseun Pascale Pema Rudo Sasha Seong Shachar Tafari Tatenda Temitope Tendai Tenzin Thandeka
    Tsering Tumelo Umut Vanja Yael Yuki Zhenya
""")
"""In English, of several cultures."""

GIVEN = "棠禾澜珩榆柚筠瑾璟翎菡屿恬沅苒祺骞昕煦栩桉芮琬晗弈"
"""In Chinese, what follows 小 or 阿."""
FAMILY = "岑邬卞柯祁骆佟桑麦闵蔺郁殷娄庞樊邱甄"
"""In Chinese, what follows 老."""

ALSO_WORDS = frozenset(
    _words("""
    April Art Ash August Autumn Bill Bob Chance Cliff Daisy Dawn Dean Drew Eve Faith Frank Grace Grant Hazel Heath
    Holly Hope Iris Ivy Jack Jasmine Joy June Lance Lily Mark Max May Melody Mercy Miles Olive Pat Patience Penny
    Pearl Ray Red Reed Rob Robin Rose Ruby Rusty Sage Serenity Skip Sky Sunny Summer Victor Violet Wade Ward Will
    Winter
""")
)
"""English names that are words too, some of them months."""
MONTHS = frozenset(("April", "August", "June", "May"))

NOT_PEOPLE = frozenset(
    _words("""
    Aegean Africa African Agent America American Area Army Asia Asian Assistant Aunt Auntie Australia Austria Bags
    Bald Beach Beer Beijing Berlin Birthday Blue Book Brand Brazil Britain British Brother Bureau California Canada
    Canyon Captain Center Chamber Chemistry China Chinese Christmas City Claus Cloud Coach Common Company Copacabana
    Cross Crown Dad Daddy Day December Development Director Doctor Doctors Double Dr Dutch Dynasty Earth Easter
    Egypt Egyptian Eiffel Eleven England English Era Europe European Exhibition Farmer Father February Festival
    Florida Flower Fox France French Friday General German Germany God Golden Good Grand Granddad Grandfather
    Grandma Grandmother Grandpa Grass Greece Greek Green Guangdong Hall Halloween Health Hello Henan Hey House
    Huaxia Hunan Hundred Iceland India Indian Internet Island Italian Italy Janeiro January Japan Japanese Jesus
    July King Kingdom Kingdoms Korea Korean Lady Lake Landscape Light Little London Lord Lunar Madame Majesty Mama
    Manager March Mars Mexico Mid Minister Miss Mister Mom Monday Monk Moon Mother Mount Mountain Mr Mrs Ms Mum
    Museum National Neighbor New North Northeastern November Nurse October Officer Old Opera Organization Pacific
    Papa Paris Park Pavilion Peking People Photography Pole Police President Prince Princess Principal Product
    Professor Public Queen Relations Republic Restaurant Retrievers Right Rio Road Rome Royal Russia Russian Santa
    Saturday Scenic School Sea Security September Shandong Shanghai Shop Shopping Show Sichuan Sir Sister South
    Spain Spanish Spring Square Squirrels Star States Street Sunday Supervisor Support Switzerland Taste Teacher
    Technology Ten Thailand Thanksgiving Thousand Three Thursday Tokyo Tower Tuesday Two Uncle United University
    Valentine Valley Venice Vietnam Warring Wednesday West Western World Year Yes York Zealand
""")
)
"""Words with a capital that name nobody: titles, days, peoples, and real places, of which one may know what a story
rests on."""

FAMILY_IN_CHINESE = frozenset(
    "李王张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊陆郝孔崔康邱秦江顾侯邵孟段钱汤尹黎易乔贺赖龚"
)
GIVEN_IN_CHINESE = frozenset(
    "明丽红刚芳华杰强美玲敏兰北梅伟蓉宇花亮静雷虎燕雨云芸磊艾玉楠飞雪巧光军鹏丹琳涵松樱柳芬阳婷珍莉倩平雅茹智楚豪宁冬秋佳乐晨欣怡慧娟霞娜辉勇超峰涛浩凯斌波健东南西娇媛琴洁婉思雯薇琪萌妮龙"
)
"""Characters that follow 小, 老 or 阿 in what a person is called: family names, and given ones, which follow 小 or 阿
alone."""
NOT_NAMED_IN_CHINESE = frozenset(
    _words("""
    小花 小任 小雨 小雪 小高 小平 小康 小方 小马 小段 小石 小云 小南 小东 小西 小美 小雅 小勇 小超
    小波
""")
)
"""The names among these that are words as well: one names somebody only where it occurs again in the texts."""
BEHIND_WORDS = "园务的朵盆店瓣玲"
"""Words behind them where they are words."""

CALLED_BEHIND = _words("""
    先生 女士 小姐 太太 夫人 经理 主管 老师 教授 博士 医生 护士 律师 警官 助理 老板 店长 校长 主任
    局长 师傅 同学 阿姨 叔叔 伯伯 大爷 大妈 大伯 大叔 大哥 大姐 大婶 爷爷 奶奶 妈妈 爸爸 总 工 哥
    姐 婶 叔 姨 爷 伯 导 氏 家 某
""")
"""Words behind a family name in Chinese that somebody is called by: with it that is not a full name."""
NOT_GIVEN = frozenset(
    "小可这那的查想将微要是在我你他她它则现借感决忙不没有也就都很会能和与对向给把说问答看听去来到了着过从因当正又再才却便所为被让跟笑分翻仔轻"
)
"""Characters that are not in given names, but behind a name in sentences."""
CHINESE_WORDS = frozenset(
    _words("""
    高兴 高兴地 高价 高价购 高度 高级 高声 周末 周围 周一 周二 周三 周四 周五 周六 周日 顾客 任务
    任何 任意 于是 方法 方便 方案 方式 方面 方向 孙子 孙女 谢谢 马上 马车 马路 钱包 石头 江边 夏天
    夏日 田野 何时 何况 何必 余下 程度 常常 黄色 黄金 黄瓜 林中 段落 康复 张开 张贴 许多 许久
    段时间 孔雀 金鱼 陈列 陈旧 陈述 梁上 夏令营 温柔 尹人 汪汪 贺卡 范围 易于 罗列 唐突 唐诗 宋代
    宋朝 唐代 唐朝 汤圆 苏打 彭湃 董事 董事长 曾经 丁香 雷声 姜汤 石榴 熊猫 老钟 小巧
""")
)
"""Words that look like a name."""
