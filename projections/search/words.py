"""The words of a text as a search compares them; pure.

English    lower case, without the endings of inflection, nor those that make nouns of verbs; no stop words. A common
           abbreviation is the word it stands for, but for those that end the names of files.
German     the same, without the endings of a word with an umlaut, and those of plurals that are in no English word.
Chinese    every two neighbouring characters, as no spaces tell where a word ends; a single one stands for itself.
Terms      of software are known in English and in Chinese, for queries: a text has the tokens of its own language.
Japanese   the same within each script: a run of katakana is a word, of which the pairs are parts.
Names      `camelCase`, `snake_case`, `a/path.py`, `v1.2`: the whole, each name in it, each part. A brand is one word.

Imported inside agents' hooks: no re, which takes longer to load than a prompt takes to be read.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    Reader = Callable[[str], list[str]]

_JOINERS = ("/:@#+", ".", "-_")  # those that hold least first: in a path, names; in a name, words
JOINERS = "".join(_JOINERS)  # within a word they join its parts
HIRAGANA, KATAKANA = range(0x3040, 0x30A0), range(0x30A0, 0x3100)  # endings and particles; words from elsewhere
_LONGEST = 64  # characters; a longer word is a key or a picture, and nobody types it
_SHORTEST_STEM = 3
_MAX_KNOWN, _LONGEST_OTHER = 50_000, 16  # words whose tokens are remembered; characters of the longest that is no path
_STOP_WORDS = """
a about after again all am an and any are as at be because been before being but by can could did do does doing
don down during each few for from further get gets had has have having he her here hers him his how i if in into
is it its itself just let like ll lot may me might more most much must my no nor not now of off on once one only
or other our out over own please re s same shall she should so some such t than that the their them then there
these they this those through to too under until up us use used using ve very was we were what when where which
while who whom why will with would you your
"""
_STOP = frozenset(_STOP_WORDS.split())
_IRREGULAR_FORMS = """
ate eaten eat, became become, began begun begin, bought buy, bound bind, broke broken break, brought bring, built build,
came come, caught catch, children child, chose chosen choose, drew drawn draw, drove driven drive, fell fallen fall,
felt feel, flew flown fly, forgot forgotten forget, fought fight, found find, froze frozen freeze, gave given give,
goes went gone go, grew grown grow, heard hear, held hold, hid hidden hide, kept keep, knew known know, led lead,
lost lose, made make, men man, met meet, mice mouse, paid pay, people person, ran run, rode ridden ride, said say,
sang sung sing, saw seen see, sent send, shown show, slept sleep, sold sell, spent spend, spoke spoken speak, stole
stolen steal, stood stand, stuck stick, swam swim, took taken take, taught teach, thought think, threw thrown throw,
told tell, understood understand, won win, women woman, wore worn wear, wrote written write
"""  # each group ends with the form that stands for it
_ABBREVIATIONS = """
arg args argument, auth authenticate, cmd cmds command, config configs configuration, db dbs database, dep deps
dependency, dirs directory, doc docs documentation, email emails mail, env envs environment, err errs error, fn func
funcs function, img imgs image, impl implementation, k8s kubernetes, lib libs library, msg msgs message, param params
parameter, perf performance, pg postgres, pkg pkgs package, prod production, regexp regex, repo repos repository, stats
statistic, var vars variable
"""  # the same; none that ends the names of files
_GROUPS = map(str.split, f"{_IRREGULAR_FORMS},{_ABBREVIATIONS}".split(","))
_IRREGULAR = {form: forms[-1] for forms in _GROUPS for form in forms}
_TERMS = """
数据库 database 端口 port 缓存 cache 部署 deploy 登录 login 登陆 login 认证 authenticate 配置 configuration
环境 environment 生产 production 依赖 dependency 发布 release 上线 release 回滚 rollback 迁移 migrate 索引 index
查询 query 队列 queue 消息 message 日志 log 监控 monitor 告警 alert 报警 alert 超时 timeout 重试 retry
并发 concurrent 线程 thread 进程 process 内存 memory 磁盘 disk 权限 permission 密码 password 令牌 token
证书 certificate 加密 encrypt 网络 network 代理 proxy 网关 gateway 集群 cluster 容器 container 镜像 image
仓库 repository 备份 backup 恢复 restore 前端 frontend 后端 backend 页面 page 按钮 button 字段 field
事务 transaction 死锁 deadlock 支付 payment 订单 order 退款 refund 发票 invoice 用户 user 客户 customer
账号 account 账户 account 金额 amount 价格 price 时区 timezone 时间戳 timestamp 浏览器 browser 服务器 server
客户端 client 框架 framework 插件 plugin 模板 template 参数 parameter 异常 exception 警告 warning 崩溃 crash
泄漏 leak 泄露 leak 性能 performance 延迟 latency 吞吐 throughput 压缩 compress 上传 upload 下载 download
同步 sync 异步 async 邮件 mail 通知 notify 搜索 search 排序 sort 分页 pagination 过滤 filter 图片 image 视频 video
音频 audio 文档 documentation 规范 convention 覆盖率 coverage 流水线 pipeline 标签 tag 冲突 conflict 评审 review
审查 review 偏好 prefer 风格 style 协议 protocol 地址 address 域名 domain 路由 route 路径 path 目录 directory
数组 array 整数 integer 精度 precision 随机 random 模型 model 训练 train 接口 api 定时 schedule 调度 schedule
升级 upgrade 服务 service 重复 duplicate 节点 node 连接 connect 会话 session 支持 support 库存 stock 重建 rebuild
删除 delete 锁定 lock 限制 limit 邮箱 mail 签名 signature 回调 callback 状态 state 向量 vector 分片 shard
附件 attachment 密钥 secret 字体 font 地图 map 定位 location 付款 payment 速度 speed 对账 reconcile 水印 watermark
单元 unit 集成 integrate 断言 assert 模拟 mock 组件 component 样式 style 布局 layout 弹窗 dialog 表单 form 菜单 menu
图标 icon 动画 animation 滚动 scroll 点击 click 输入 input 输出 output 快捷键 shortcut 响应 response
请求 request 跨域 cors 防火墙 firewall 端点 endpoint 协程 coroutine 信号 signal 缓冲 buffer 批量 batch
并行 parallel 序列化 serialize 解析 parse 编译 compile 打包 bundle 安装 install 卸载 uninstall 重启 restart
停机 downtime 宕机 outage 故障 failure 调试 debug 断点 breakpoint 堆栈 stack 指针 pointer 引用 reference
继承 inherit 枚举 enum 常量 constant 字典 dictionary 元组 tuple 哈希 hash 校验 validate 验证 verify 校验和 checksum
权重 weight 阈值 threshold 限流 throttle 灰度 canary 扩容 scale 副本 replica 分区 partition 事件 event
订阅 subscribe 消费者 consumer 生产者 producer 审计 audit 合规 compliance 隐私 privacy 脱敏 mask 租户 tenant
额度 quota 配额 quota 计费 bill 账单 bill 税率 tax 税务 tax 折扣 discount 优惠券 coupon 购物车 cart 结账 checkout
结算 settle 物流 ship 商品 product 供应商 supplier 合同 contract 报表 report 统计 statistic 图表 chart
仪表盘 dashboard 本地化 locale 语言 language 拼音 pinyin 分词 tokenize 关键词 keyword 推荐 recommend 匹配 match
描述 description 标题 title 章节 section 脚注 footnote 引文 citation 论文 paper 数据集 dataset 梯度 gradient
推理 inference 显卡 gpu 召回 recall 准确率 accuracy 损失 loss 批次 batch 周一 monday 周二 tuesday 周三 wednesday
周四 thursday 周五 friday 周六 saturday 周日 sunday 每周 weekly 每月 monthly
"""  # of the trade, in Chinese and English
_BRANDS = """
bitbucket chatgpt devops github gitlab graphql ipad iphone javascript linkedin macos openai paypal powershell typescript
whatsapp wordpress youtube
"""  # with a capital within, and no names of things in code
_WHOLE = frozenset(_BRANDS.split())
_BEGINNING = 3  # characters, which endings leave as they are
_PARTICLES = "的了吗呢吧啊呀嘛么是在和与或就也都把被请我你他她它们这那哪个"
_ENDINGS = ("ing", "ed")
_GERMAN = ("ern", "ers", "em", "en", "er", "es", "e", "n", "s")
_PLURALS = ("ungen", "heiten", "keiten", "ionen", "schaften")  # no English word ends like that
_NOUNS, _SHORTEST_NOUN = ("tion", "sion"), 8  # of verbs: migration is migrate, but portion is not port
_SIBILANTS = ("xes", "ches", "shes", "sses", "zes")
_PLAIN = range(128)
_HAN = range(0x4E00, 0xA000)
_WIDE = range(0xFF01, 0xFF5F)  # ASCII as wide as Han
_FIRST_HAN, _LAST_HAN = chr(_HAN[0]), chr(_HAN[-1])
_ASCII = bytes(code if chr(code).isalnum() or chr(code) in JOINERS else ord(" ") for code in _PLAIN).ljust(256)


def _folded(code: int) -> str:
    """Return the compatible form of a character (NFKC); the whole tables are loaded at the first unusual character."""
    if code in _HAN or code in _PLAIN:
        return chr(code)
    if code in _WIDE:
        return chr(code - _WIDE[0] + ord("!"))
    from unicodedata import normalize

    return normalize("NFKC", chr(code))


class _Spelling(dict[int, str]):
    """The spelling of characters for comparison: width folded; a space for all but letters, digits and joiners."""

    def __missing__(self, code: int) -> str:
        folded = _folded(code)
        chars = (char if char.isalnum() or char in JOINERS else " " for char in folded if char not in _PARTICLES)
        self[code] = "".join(chars) or " "
        return self[code]


class _Tokens(dict[str, str]):
    """The tokens of words met before; not of whole sentences, which is what is one word in a script without spaces."""

    def __missing__(self, word: str) -> str:
        found = " ".join(_of_word(word))
        if len(word) <= (_LONGEST if word.isascii() else _LONGEST_OTHER):
            self[word] = found
        return found


_spelling = _Spelling()
_known = _Tokens()


def tokens(text: str) -> list[str]:
    """List the tokens of a text in its order, repetitions included."""
    return spelled(text).split()


def spelled(text: str) -> str:
    """Split a text into its tokens, with a space between each two."""
    words = text.encode().translate(_ASCII).decode() if text.isascii() else text.translate(_spelling)
    if len(_known) > _MAX_KNOWN:
        _known.clear()
    return " ".join(filter(None, map(_known.__getitem__, words.split())))


def translated(terms: "Collection[str]") -> "list[tuple[frozenset[str], frozenset[str]]]":
    """Find terms among tokens: the tokens of the same in the other language, and those it stands for."""
    found, asked, begins = [], {*terms}, {token[:_BEGINNING] for token in terms}
    words = iter(_TERMS.split())
    for term, word in zip(words, words, strict=True):
        if term[:2] in asked or word[:_BEGINNING] in begins:
            chinese, english = frozenset(_pairs(term)), frozenset((stem(word),))
            if chinese.issubset(asked) is not english.issubset(asked):
                found.append((english, chinese) if chinese.issubset(asked) else (chinese, english))
    return found


def with_translated(words: "Collection[str]", others: "Iterable[tuple[Collection[str], frozenset[str]]]") -> "set[str]":
    """Add to the tokens of a text those that its terms of the other language stand for."""
    found = {*words}
    for other, same in others:
        if found.issuperset(other):
            found |= same
    return found


def stem(word: str) -> str:
    """Remove the endings of English and German inflection, as far as that is safe without a dictionary.

    Irregular forms are undone.
    """
    word = _IRREGULAR.get(word, word)
    if len(word) <= _SHORTEST_STEM or not word.isalpha():
        return word
    if not word.isascii():
        return _german_stem(word)
    if word.endswith(_PLURALS):
        word = word[:-2]
    if word.endswith("ies") and _leaves_enough(word, "is"):
        word = word[:-3] + "y"
    elif word.endswith("s") and word[-2] not in "sui":
        word = word[:-2] if word.endswith(_SIBILANTS) else word[:-1]
    for ending in _ENDINGS:
        if word.endswith(ending) and _leaves_enough(word, ending):
            word = _undoubled(word[: -len(ending)])
            break
    if word.endswith(_NOUNS) and len(word) >= _SHORTEST_NOUN:
        word = word[:-3]
    if word.endswith("ly") and _leaves_enough(word, "lly"):
        word = word[:-2]
    return word[:-1] if word.endswith("e") and len(word) > _SHORTEST_STEM else word


def _german_stem(word: str) -> str:
    """Remove an ending from a word with a letter that English lacks."""
    ending = next(filter(word.endswith, _GERMAN), "")
    return word[: len(word) - len(ending)] if len(word) - len(ending) > _SHORTEST_STEM else word


def _of_word(word: str) -> list[str]:
    """Return what one run of letters, digits and joiners stands for."""
    if word.isascii() and word.isalpha() and (word.islower() or word.istitle() or word.isupper()):
        lower = word.lower()
        return [] if lower in _STOP or len(word) > _LONGEST else [stem(lower)]
    if word.isascii():
        return _of_name(word.strip(JOINERS))
    if min(word) >= _FIRST_HAN and max(word) <= _LAST_HAN:
        return _pairs(word)
    return [token for read, run in _runs(word) for token in read(run.strip(JOINERS))]


def _of_name(word: str) -> list[str]:
    """Return the whole name, each name in it, and the words of these: `lib/cart_total.py` has `cart_total`, too."""
    lower = word.lower()
    if lower in _WHOLE or (names := _split(word)) == [word]:
        return [stem(lower)] if lower and lower not in _STOP and len(word) <= _LONGEST else []
    found = " ".join([_known[name] for name in names]).split()[:_LONGEST]  # folders come again and again
    is_one = lower.isalnum() and len(found) <= 1
    return found if is_one or len(word) > _LONGEST else [lower, *found]


def _split(word: str) -> list[str]:
    """Split at the joiners that hold least, else before a capital letter: `HTTPServer` is HTTP, Server."""
    for joiners in _JOINERS:
        names = word
        for joiner in joiners:
            names = names.replace(joiner, " ")
        if names != word:
            return [name for part in names.split() if (name := part.strip(JOINERS))]
    return [word] if word.islower() or word.isupper() or not word.isascii() else _humps(word)


def _humps(part: str) -> list[str]:
    found, begin = [], 0
    for at in range(1, len(part)):
        is_next_small = part[at + 1 : at + 2].islower()
        if part[at].isupper() and (not part[at - 1].isupper() or is_next_small):
            found.append(part[begin:at])
            begin = at
    return [*found, part[begin:]]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _katakana(run: str) -> list[str]:
    return [run, *_pairs(run)] if len(run) > len("カナ") else [run]


def _hiragana(run: str) -> list[str]:
    return _pairs(run) if len(run) > 1 else []


def _runs(word: str) -> "Iterator[tuple[Reader, str]]":
    """Split where one script meets another, each run with what reads it."""
    begin, before = 0, _reader(word[0])
    for at, char in enumerate(word):
        if (reader := _reader(char)) != before:
            yield before, word[begin:at]
            begin, before = at, reader
    yield before, word[begin:]


def _reader(char: str) -> "Reader":
    """Choose what reads the script of a character: of those without spaces, Han, hiragana or katakana."""
    code = ord(char)
    if code in HIRAGANA:
        return _hiragana
    if code in KATAKANA:
        return _katakana
    is_han = "\u3400" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff" or char >= "\U00020000"
    return _pairs if is_han else _of_name


def _leaves_enough(word: str, ending: str) -> bool:
    return len(word) - len(ending) >= _SHORTEST_STEM


def _undoubled(word: str) -> str:
    """Remove the second of two letters at the end: stopped is stop, but adding is add."""
    is_double = word[-1] == word[-2] and word[-1] not in "lsz" and len(word) > _SHORTEST_STEM
    return word[:-1] if is_double else word
