"""Made-up credentials of every kind, put together at run time: no scanner is to find one in this repository."""

import random
import string

_rng = random.Random(20260221)
_ALNUM = string.ascii_letters + string.digits


def _made(size, alphabet=_ALNUM):
    """So many characters, letters and digits among them."""
    return "".join(_rng.choices(alphabet, k=size - 4)) + ("A1b2" if "b" in alphabet and "A" in alphabet else "")[
        :4
    ].ljust(4, alphabet[1])


def _hex(size):
    return "".join(_rng.choices("0123456789abcdef", k=size))


def _block(words):
    body = "\n".join(_made(64) for _ in range(4))
    return f"-----BEGIN {words}-----\n{body}\n-----END {words}-----", body


_UPPER = string.ascii_uppercase + string.digits

# kind -> the text it stands in, and what must not be left of it
SAMPLES = {
    name: (text, secret)
    for name, (text, secret) in {
        "AWS key id": ("{}", "AKIA" + _made(16, _UPPER)),
        "AWS secret": ("aws_secret_access_key = {}", _made(40, _ALNUM + "/+")),
        "GCP private_key_id": ('{{"private_key_id": "{}"}}', _hex(40)),
        "Google API key": ("{}", "AI" + "za" + _made(35)),
        "Google access token": ("{}", "ya" + "29." + _made(60)),
        "Google client secret": ("{}", "GOC" + "SPX-" + _made(28)),
        **{f"GitHub {one}": ("{}", f"gh{one}_" + _made(36)) for one in "pousr"},
        "GitHub fine-grained": ("{}", "github" + "_pat_" + _made(82)),
        "GitLab": ("{}", "gl" + "pat-" + _made(20)),
        "GitLab runner": ("{}", "GR13" + "48941" + _made(20)),
        **{f"Slack {one}": ("{}", f"xox{one}-" + "123456789012-" + _made(24)) for one in "abposr"},
        "Slack app": ("{}", "xa" + "pp-1-" + _made(40)),
        "Slack webhook": ("https://{}", "hooks.slack" + ".com/services/T0123/B0123/" + _made(24)),
        **{f"Stripe {one}": ("{}", f"{one}_{mode}_" + _made(24)) for one in ("sk", "rk") for mode in ("live", "test")},
        "Stripe test": ("{}", "sk_" + "test_" + _made(24)),
        "Stripe webhook": ("{}", "wh" + "sec_" + _made(32)),
        "OpenAI project": ("{}", "sk-" + "proj-" + _made(48)),
        "OpenAI": ("{}", "sk-" + _made(20) + "T3Blbk" + "FJ" + _made(20)),
        "Anthropic": ("{}", "sk-" + "ant-api03-" + _made(90)),
        "JWT": ("{}", "ey" + "J" + _made(33) + ".eyJ" + _made(40) + "." + _made(43)),
        "RSA key": (None, _block("RSA PRIVATE" + " KEY")),
        "OpenSSH key": (None, _block("OPENSSH PRIVATE" + " KEY")),
        "PGP block": (None, _block("PGP PRIVATE" + " KEY BLOCK")),
        "Bearer": ("Authorization: Bearer {}", _made(32)),
        "Basic": ("Authorization: Basic {}", "YWRhOmh1" + "bnRlcjI="),
        "Basic in UTF-8": ("Authorization: Basic {}", "YWRhOtC/" + "0LDRgNC+0LvRjA=="),
        "Basic of another charset": ("-H 'authorization: Basic {}'", "YWRh" + "OuTk5OTk"),
        "address": ("https://ada:{}@example.org/x.git", "hunter2"),
        "redis": ("redis://:{}@cache:6379/0", "hunter2x"),
        "postgres": ("postgresql+psycopg://app:{}@db/shop", "s3cr3t!pw"),
        "PASSWORD=": ("PASSWORD={}", "hunter2"),
        "MSSQL": ("Server=db;User Id=sa;Password={};Encrypt=yes", "Str0ng!Pass"),
        "curl": ("curl -sSu ada:{} https://example.org", "hunter2xy9"),
        "curl, behind flags": ("curl -sSuada:{} https://example.org", "hunter2xy9"),
        "curl, in quotes": ("curl -X POST --user 'ada:{}' x", "hun ter2" + "xy9"),
        "mysql": ("mysqldump -h db -uroot -p{} shop", "hunter2xy9"),
        "prose": ("The password of the staging DB is {}.", "hunter2xyz"),
        "prose, changed": ("its password was changed to `{}`, tell ops", "s3cr3t-pass"),
        "German": ("das Passwort lautet jetzt {}", "Sommer2026!"),
        "German, colon": ("das Passwort lautet: {}", "Sommer2026!"),
        "Chinese, colon": ("密码是：{}", "Qwerty99"),
        "German, label": ("Kennwort: {}", "Sommer2026!"),
        "Chinese": ("数据库密码改成了 {}。", "Qwerty99"),
        "Chinese, close": ("密码是{}", "Qwerty99"),
        "Japanese": ("パスワードは {} です", "Qwerty99"),
        "a list": ('{{"passwords": [["ok"],\n  "{}"]}}', "hunter2xy9"),
        "a list in a list": ("api_keys = ['', ['{}']]", _made(20)),
        "AWS secret in a list": ('"aws_secret_access_key": ["{}"]', "wJalrXUtnFEMI/K7MDENG" + "/bPxRfiCYEXAMPLEKEY"),
        "npm": ("{}", "np" + "m_" + _made(36)),
        "PyPI": ("{}", "py" + "pi-AgEIcHlwaS5vcmc" + _made(90)),
        "Hugging Face": ("{}", "h" + "f_" + _made(34)),
        "Twilio": ("{}", "S" + "K" + _hex(32)),
        "SendGrid": ("{}", "S" + "G." + _made(22) + "." + _made(43)),
        "Azure storage": ("AccountName=a;AccountKey={};EndpointSuffix=x", _made(86) + "=="),
        "Azure SAS": ("https://a.blob.example.org/c?sv=2022&sig={}&se=2026", _made(41) + "%3D"),
        "Discord": ("{}", "MTE4" + _made(20) + "." + _made(6) + "." + _made(38)),
        "Telegram": ("{}", "123456" + "7890:AA" + _made(33)),
        "DigitalOcean": ("{}", "dop" + "_v1_" + _hex(64)),
        "Shopify": ("{}", "shp" + "at_" + _hex(32)),
        "age": ("{}", "AGE-SEC" + "RET-KEY-1" + _made(58, _UPPER)),
        "Vault": ("{}", "hv" + "s." + _made(90)),
        "Linear": ("{}", "lin" + "_api_" + _made(40)),
        "access_token in an address": ("https://api.example.org/me?access_token={}&x=1", _made(40)),
        "Groq": ("{}", "gs" + "k_" + _made(52)),
        "Replicate": ("{}", "r" + "8_" + _made(37)),
        "Datadog": ("DD_API_KEY={}", _hex(32)),
        "KEY=": ("SESSION_KEY={}", _made(32)),
        "TOKEN:": ("DEPLOY_TOKEN: {}", _made(32)),
        "Telegram in an address": ("https://api.telegram.org/bot{}/getMe", "123456" + "7890:AA" + _made(33)),
        "AWS session": ("AWS_SESSION_TOKEN={}", "IQoJb3Jp" + "Z2luX2Vj" + "a/B+" * 60),
        "AWS secret, set": ("aws configure set aws_secret_access_key {}", _made(40, _ALNUM + "/+")),
        "slashes in base 64": ("SIGNING_KEY={}", _made(20) + "/" + "/".join(_made(20) for _ in range(4)) + "=="),
        "key in base 64": ("client-key-data: {}", "LS0tLS1C" + "RUdJTiBSU0EgUFJJVkFURSBL" + _made(60)),
        "Azure OpenAI": ("{}", _made(52) + "JQ" + "QJ99" + _made(26)),
        "Bitbucket": ("{}", "AT" + "BB" + _made(32)),
        "Slack client": ("{}", "xo" + "xc-" + "123456789012-" * 3 + _hex(64)),
        "Slack cookie": ("d={}", "xo" + "xd-" + _made(60) + "%2B" + _made(20)),
        "Django": ("SECRET_KEY = '{}'", "django-" + "insecure-n#2sjf1fzjsiopg99hkks8t=(ror00cx^b+lu@i+1zj5f80kl1"),
        "signed address": ("https://b.example.org/k?X-Amz-Signature={}", _hex(64)),
        "OpenSSH key in base 64": ("{}", "b3BlbnNz" + "aC1rZXktdjE" + _made(60)),
        "address, token alone": ("https://{}@example.org/x.git", _made(40)),
        "Redis": ("redis-cli -h cache -a {} ping", _made(16)),
        "Azure login": ("az login --service-principal -u app -p {} --tenant t", _made(34)),
        "openssl": ("openssl enc -pass pass:{} -in x", _made(16)),
        "Okta": ("Authorization: SSWS {}", "00" + _made(40)),
        "Azure DevOps": ("{}", _made(76) + "AZ" + "DO" + _made(4, _UPPER)),
        "Databricks OAuth": ("{}", "do" + "se" + _hex(32)),
        "Supabase": ("{}", "sb" + "p_" + _hex(40)),
        "Supabase secret": ("{}", "sb_sec" + "ret_" + _made(22) + "_" + _made(8)),
        "Vercel": ("{}", "vc" + "p_" + _made(56)),
        "Vercel Blob": ("{}", "vercel_" + "blob_rw_" + _made(16) + "_" + _made(30)),
        "Cloudflare": ("{}", "cf" + "ut_" + _made(48)),
        "Google refresh": ("refresh_token={}", "1/" + "/0" + _made(90)),
        "Together": ("{}", "tgp" + "_v1_" + _made(43)),
        "Cerebras": ("{}", "cs" + "k-" + _made(48)),
        "ElevenLabs": ("{}", "s" + "k_" + _hex(48)),
        "LangSmith": ("{}", "lsv2" + "_pt_" + _hex(32) + "_" + _hex(10)),
        "Langfuse": ("{}", "sk-" + "lf-7b1f4c0e-92d3-4a7e-b8e1-c03d9f5a6e72"),
        "Tavily": ("{}", "tv" + "ly-dev-" + _made(32)),
        "Pinecone": ("{}", "pc" + "sk_" + _made(6) + "_" + _made(63)),
        "PostHog": ("{}", "ph" + "x_" + _made(43)),
        "Neon": ("{}", "na" + "pi_" + _made(60)),
        "Netlify": ("{}", "nf" + "p_" + _made(36)),
        "Figma": ("{}", "fi" + "gd_" + _made(40)),
        "Docker": ("{}", "dckr" + "_pat_" + _made(27)),
        "Doppler service": ("{}", "dp" + ".st.prd." + _made(43)),
        "Sonar": ("{}", "sq" + "p_" + _hex(40)),
        "Tailscale": ("{}", "tsk" + "ey-auth-" + _made(12) + "-" + _made(32)),
        "CircleCI": ("{}", "CCI" + "PAT_" + _made(22) + "_" + _hex(40)),
        "netrc": ("machine h\n  login ada\n  password {}", "Zq8vLm2wXk9"),
        "Dockerfile": ("ENV DB_PASSWORD {}", "Zq8vLm2wXk9"),
        "fish": ("set -gx API_TOKEN {}", _made(32)),
        "sshpass": ("sshpass -p {} ssh h", "Zq8vLm2wXk9"),
        "docker login": ("docker login -u ada -p {} r.example.org", "Zq8vLm2wXk9"),
        "attribute": ('<add key="DbPassword" value="{}"/>', "Zq8vLm2wXk9"),
        "Kubernetes": ("- name: DB_PASSWORD\n          value: {}", "Zq8vLm2wXk9"),
        "ECS": ('{{"name": "DB_PASSWORD", "value": "{}"}}', "Zq8vLm2wXk9"),
        "URL-encoded": ("password%3D{}%26user", "Zq8vLm2wXk9"),
        "SQL": ("ALTER USER ada WITH PASSWORD '{}'", "Zq8vLm2wXk9"),
        "_PASS=": ("DATABASE_PASS={}", "Zq8vLm2wXk9"),
        "Token in a header": ("Authorization: token {}", _made(40)),
        "secretKey": ("secretKey: '{}'", _made(24)),
        "cookie": ("Cookie: theme=dark; sessionid={}; n=1", _made(32)),
        "Set-Cookie": ("< set-cookie: sid={}; Path=/; HttpOnly", _made(32)),
        "cookie in a program": ("cookies = {{'sessionid': '{}'}}", _made(32)),
        "cookie of curl": ("curl -b 'session={}' https://example.org", _made(32)),
        "pgpass": ("db.example.org:5432:shop:ada:{}", "Zq8vLm2w!Xk9"),
        "pgpass for all": ("localhost:5432:*:ada:{}", "Zq8vLm2w:Xk9"),
        "Oracle": ("jdbc:oracle:thin:scott/{}@db.example.org:1521:ORCL", "Zq8vLm2wXk9"),
        "htpasswd": ("htpasswd -bc .htpasswd ada {}", "Zq8vLm2wXk9"),
        "htpasswd, printed": ("htpasswd -nbB ada {}", "winter" + "garden"),
        "Mailgun": ("{}", "ke" + "y-" + _hex(32)),
        "key in an address": ("https://example.org/geocode?key={}&q=x", _made(39)),
        "code in an address": ("GET /callback?state=x&code={} HTTP/1.1", "4/0A" + _made(60)),
        "netrc of words": ("machine h login ada password {}", "winter" + "garden"),
        "words": ("password: {}", "correcthorse" + "batterystaple"),
        "words with dashes": ("DB password = '{}'", "correct-horse" + "-battery-staple"),
        "a bracket in quotes": ('"password": "{}"', "xDDX.8[2auZhB(TJ4"),
        "Secret of Kubernetes": ("kind: Secret\ndata:\n  url: {}\n", "c2NvdHQ6aHVudGVy" + "MkBkYi9zaG9w"),
        "Secret in JSON": ('{{"data": {{"url": "{}"}}, "kind": "Secret"}}', "c2NvdHQ6aHVudGVy" + "MkBkYi9zaG9w"),
        "Terraform": ('variable "db_password" {{\n  type = string\n  default = "{}"\n}}', "Zq8vLm2wXk9"),
        "minisign": ("{}", "RWR" + "TY0Iy" + _made(200)),
        "WireGuard": ("PresharedKey = {}", _made(43) + "="),
        "one-time": ("otpauth://totp/Shop:ada?issuer=Shop&secret={}", "JBSWYDPEHPKP" + "XPJB"),
        "redis-cli, short": ("redis-cli -h cache -a {} ping", "Zq8vLm2wXk9"),
        "bold": ("**Password:** {}", "Zq8vLm2wXk9"),
        "bold name": ("**DB password**: {}", "Zq8vLm2wXk9"),
        "a word before": ("use password {} for it", "Zq8vLm2wXk9"),
        "French": ("le mot de passe est {}", "Zq8vLm2wXk9"),
        "Spanish": ("la contraseña de ada es {}", "Zq8vLm2wXk9"),
        "Portuguese": ("a senha é {}", "Zq8vLm2wXk9"),
        "Russian": ("пароль: {}", "Zq8vLm2wXk9"),
        "item of a dict": ("os.environ['DB_PASSWORD'] = '{}'", "Zq8vLm2wXk9"),
        "setter": ('ds.setPassword("{}");', "Zq8vLm2wXk9"),
        "PowerShell": ('New-LocalUser -Name ada -Password "{}"', "Zq8vLm2wXk9"),
        "keytool": ("keytool -list -storepass {} -keystore x", "Zq8vLm2wXk9"),
        "IDENTIFIED BY": ("CREATE USER ada IDENTIFIED BY '{}'", "Zq8vLm2wXk9"),
        "Korean": ("비밀번호는 {}", "Zq8vLm2wXk9"),
    }.items()
}


def sample(name):
    """The text of a kind, and what must not be left of it: of a block a line of its body."""
    text, secret = SAMPLES[name]
    if text is None:
        whole, body = secret
        return whole, body.splitlines()[1]
    return text.format(secret), secret
