"""The look of credentials, as data: their first characters, and what follows.

Sources: the issuers' documentation, the rules of gitleaks and of detect-secrets; `token_rules.py`
has those that gitleaks maintains.

Imported inside agents' hooks: plain tuples and strings, nothing to compile.
"""

DIGITS = "0123456789"
_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_HEX = DIGITS + "abcdef"
ALNUM = DIGITS + _UPPER + _UPPER.lower()
WORD = ALNUM + "_"
TOKEN = WORD + "-"
BASE64 = ALNUM + "+/="
ENCODED = BASE64 + "%_-"
HEADER = TOKEN + "._~+/="
QUOTES = "\"'`"

# kind, what it begins with, the characters that follow, at least and (unless 0) at most so many of them
TOKENS = (
    ("aws-access-key", ("AKIA", "ASIA", "ABIA", "ACCA"), DIGITS + _UPPER, 16, 16),
    ("aws-access-key", ("A3T",), DIGITS + _UPPER, 17, 17),
    ("google-api-key", ("AIza",), TOKEN, 35, 0),
    ("google-oauth-token", ("ya29.",), TOKEN + ".", 20, 0),
    ("google-client-secret", ("GOCSPX-",), TOKEN, 20, 0),
    ("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"), WORD, 20, 0),
    (
        "gitlab-token",
        ("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glcbt-", "glimt-", "glptt-", "glagent-", "gloas-",
         "GR1348941", "glffct-"),
        TOKEN + ".",
        20,
        0,
    ),
    (
        "slack-token",
        ("xoxa-", "xoxb-", "xoxc-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
        TOKEN,
        8,
        0,
    ),
    ("slack-cookie", ("xoxd-",), ENCODED, 20, 0),
    (
        "slack-webhook",
        ("hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"),
        TOKEN + "/",
        5,
        0,
    ),
    ("stripe-key", ("sk_live_", "sk_test_", "rk_live_", "rk_test_"), WORD, 16, 0),
    ("webhook-secret", ("whsec_",), BASE64 + "_-", 20, 0),
    ("anthropic-key", ("sk-ant-",), TOKEN, 20, 0),
    ("openai-key", ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"), TOKEN, 20, 0),
    ("openrouter-key", ("sk-or-",), TOKEN, 20, 0),
    ("api-key", ("sk-", "pplx-", "xai-"), ALNUM, 20, 0),
    ("bitbucket-token", ("ATBB",), ALNUM, 32, 32),
    ("django-key", ("django-insecure-",), TOKEN + "!@#$%^&*(+=)", 50, 50),
    ("signed-address", ("X-Amz-Signature=", "X-Goog-Signature="), _HEX, 64, 0),
    ("npm-token", ("npm_",), ALNUM, 30, 0),
    ("pypi-token", ("pypi-",), TOKEN, 40, 0),
    ("hugging-face-token", ("hf_", "api_org_"), ALNUM, 30, 0),
    ("twilio-key", ("SK",), ALNUM, 32, 32),
    ("twilio-account", ("AC",), DIGITS + _UPPER.lower(), 32, 32),
    ("sendgrid-key", ("SG.",), TOKEN + ".", 40, 0),
    ("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), ALNUM, 32, 0),
    ("shopify-token", ("shpat_", "shpca_", "shppa_", "shpss_"), ALNUM, 24, 0),
    ("age-key", ("AGE-SECRET-KEY-",), DIGITS + _UPPER, 40, 0),
    ("vault-token", ("hvs.", "hvb.", "hvr."), TOKEN, 20, 0),
    ("linear-key", ("lin_api_", "lin_oauth_"), ALNUM, 20, 0),
    ("groq-key", ("gsk_",), ALNUM, 30, 0),
    ("replicate-token", ("r8_",), ALNUM, 30, 0),
    ("discord-webhook", ("discord.com/api/webhooks/", "discordapp.com/api/webhooks/"), TOKEN + "/", 40, 0),
    ("azure-key", ("AccountKey=",), BASE64, 40, 0),
    ("azure-signature", ("sig=",), ENCODED, 40, 0),
    ("square-token", ("sq0atp-", "sq0csp-"), TOKEN, 20, 0),
    ("new-relic-key", ("NRAK-",), ALNUM, 20, 0),
    ("nvidia-key", ("nvapi-",), TOKEN, 40, 0),
    ("fly-token", ("fo1_", "fm1a_", "fm1r_", "fm2_"), BASE64 + "_-", 43, 0),
    ("sourcegraph-token", ("sgp_",), WORD, 40, 0),
    ("bedrock-key", ("bedrock-api-key-",), ENCODED + "&.", 20, 0),
    ("json-web-token", ("ZXlK",), TOKEN + "+/=.", 30, 0),
    ("postman-key", ("PMAK-",), TOKEN, 40, 0),
    ("telegram-token", ("api.telegram.org/bot",), TOKEN + ":", 40, 0),
    ("aws-session-token", ("IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"), ENCODED, 100, 0),
    ("google-refresh-token", ("1//0",), TOKEN, 40, 0),
    ("private-key",
     ("LS0tLS1CRUdJTiBQUklWQVRF", "LS0tLS1CRUdJTiBSU0EgUFJJVk", "LS0tLS1CRUdJTiBFQyBQUklWQV",
      "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSV", "LS0tLS1CRUdJTiBFTkNSWVBURUQgUF", "b3BlbnNzaC1rZXktdjE"),
     BASE64, 20, 0),
    ("databricks-token", ("dose",), _HEX, 32, 32),
    ("supabase-key", ("sbp_", "sb_secret_"), TOKEN, 24, 0),
    ("vercel-token", ("vcp_", "vci_", "vca_", "vcr_", "vck_", "vercel_blob_rw_"), WORD, 24, 0),
    ("cloudflare-token", ("cfut_", "cfat_", "cfk_"), ALNUM, 40, 0),
    ("together-key", ("tgp_v1_",), TOKEN, 40, 0),
    ("fireworks-key", ("fw_",), ALNUM, 22, 24),
    ("cerebras-key", ("csk-",), ALNUM, 40, 0),
    ("elevenlabs-key", ("sk_",), _HEX, 48, 48),
    ("langsmith-key", ("lsv2_pt_", "lsv2_sk_"), WORD, 32, 0),
    ("langfuse-key", ("sk-lf-",), _HEX + "-", 36, 36),
    ("context7-key", ("ctx7sk-",), _HEX + "-", 36, 36),
    ("tavily-key", ("tvly-",), TOKEN, 32, 0),
    ("jina-key", ("jina_",), TOKEN, 50, 0),
    ("voyage-key", ("pa-",), TOKEN, 43, 43),
    ("pinecone-key", ("pcsk_",), WORD, 50, 0),
    ("firecrawl-key", ("fc-",), _HEX, 32, 32),
    ("e2b-key", ("e2b_",), _HEX, 40, 40),
    ("editor-key", ("key_",), _HEX, 64, 64),
    ("posthog-key", ("phx_",), ALNUM, 40, 0),
    ("neon-key", ("napi_",), ALNUM, 50, 0),
    ("render-key", ("rnd_",), ALNUM, 28, 0),
    ("netlify-token", ("nfp_",), ALNUM, 36, 0),
    ("notion-token", ("secret_",), ALNUM, 43, 43),
    ("figma-token", ("figd_",), TOKEN, 40, 0),
    ("docker-token", ("dckr_pat_", "dckr_oat_"), TOKEN, 27, 0),
    ("doppler-token", ("dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."), TOKEN + ".", 40, 0),
    ("crates-token", ("cio",), ALNUM, 32, 32),
    ("nuget-key", ("oy2",), DIGITS + _UPPER.lower(), 43, 43),
    ("sonar-token", ("sqp_", "squ_", "sqa_"), _HEX, 40, 40),
    ("tailscale-key", ("tskey-",), TOKEN, 20, 0),
    ("buildkite-token", ("bkua_",), _HEX, 40, 40),
    ("circleci-token", ("CCIPAT_", "CCIPRJ_"), WORD, 40, 0),
    ("hubspot-token", ("pat-na1-", "pat-na2-", "pat-eu1-"), _HEX + "-", 36, 36),
    ("contentful-token", ("CFPAT-",), TOKEN, 43, 43),
    ("typeform-token", ("tfp_",), WORD, 44, 0),
    ("dropbox-token", ("sl.u.", "sl.B"), TOKEN, 100, 0),
    ("plaid-token", ("access-production-", "access-development-", "access-sandbox-"), _HEX + "-", 36, 36),
    ("trello-token", ("ATTA",), _HEX, 60, 0),
    ("webhook", ("hooks.zapier.com/hooks/catch/", "collectors.sumologic.com/receiver/v1/http/"), TOKEN + "/=", 12, 0),
    ("apify-token", ("apify_api_",), ALNUM, 30, 0),
    ("deno-token", ("ddp_", "ddo_"), ALNUM, 36, 36),
    ("google-api-key", ("AQ.Ab",), TOKEN, 40, 0),
    ("mongodb-secret", ("mdb_sa_sk_",), TOKEN, 30, 0),
    ("aiven-password", ("AVNS_",), TOKEN, 16, 0),
    ("elastic-key", ("essu_",), BASE64, 40, 0),
    ("infisical-token", ("st.",), _HEX + ".", 80, 0),
    ("mailgun-key", ("key-",), _HEX, 32, 32),
    ("minisign-key", ("RWRTY0Iy",), BASE64, 100, 0),
)  # fmt: skip

# kind, what stands in the middle, the characters before it and how many (from, to), those after it and how many
AROUND = (
    ("telegram-token", ":", DIGITS, 8, 10, TOKEN, 35),
    ("azure-client-secret", "Q~", TOKEN + "~.", 4, 4, TOKEN + "~.", 31),
    ("azure-key", "JQQJ99", ALNUM, 52, 52, ALNUM, 26),
    ("azure-devops-token", "AZDO", ALNUM, 52, 76, ALNUM, 4),
    ("openai-key", "T3BlbkFJ", TOKEN, 20, 200, ALNUM, 20),
    ("terraform-token", ".atlasv1.", ALNUM, 14, 14, TOKEN + "=", 60),
    ("maxmind-key", "_mmk", WORD, 36, 36, "", 0),
    ("facebook-token", "|", DIGITS, 15, 16, TOKEN, 27),
    ("facebook-token", "%", DIGITS, 15, 16, TOKEN, 27),
    ("teams-webhook", ".webhook.office.com/webhookb2/", TOKEN, 1, 60, TOKEN + "@/", 60),
    ("authress-key", ".acc_", TOKEN + ".", 12, 48, BASE64 + "._-", 41),
    ("authress-key", ".acc-", TOKEN + ".", 12, 48, BASE64 + "._-", 41),
    ("json-web-token", ".ey", ALNUM, 19, 400, TOKEN + "\\/.=", 17),
    ("mailchimp-key", "-us", DIGITS + _UPPER.lower(), 32, 32, DIGITS, 1),
)

# beginnings of the tokens of `token_rules.py`, each with the fewest characters of one; made by `make secrets-rules`
MAINTAINED = (
    ("rk_live_", 18), ("rk_prod_", 18), ("rk_test_", 18), ("sk_live_", 18), ("sk_prod_", 18), ("sk_test_", 18),
    ("sm_aat_", 23), ("sm_pat_", 23), ("sm_sat_", 23), ("LTAI", 24), ("FLWSECK_TEST-", 25), ("EAAA", 26),
    ("sq0atp-", 29), ("API-", 30), ("dapi", 36), ("glc_", 36), ("ico-", 36), ("p8e-", 36), ("A3-", 39), ("pnu_", 40),
    ("4b1d", 42), ("pscale_pw_", 42), ("pscale_tkn_", 43), ("pul-", 44), ("pscale_oauth_", 45), ("glsa_", 46),
    ("FLWPUBK_TEST-", 47), ("FLWSECK_TEST-", 47), ("_gitlab_session=", 48), ("dp.pt.", 49), ("ntn_", 50),
    ("sha256~", 50), ("shippo_live_", 52), ("shippo_test_", 52), ("tk-us-", 54), ("duffel_live_", 55),
    ("duffel_test_", 55), ("rubygems_", 57), ("EZAK", 58), ("EZTK", 58), ("cmVmd", 64), ("HRKU-AA", 65), ("xoxe", 66),
    ("xoxp", 66), ("CLOJARS_", 68), ("SG.", 69), ("fio-u-", 70), ("sntryu_", 71), ("pat.", 72), ("sat.", 72),
    ("AKCp", 73), ("s-s4t2af-", 73), ("s-s4t2ud-", 73), ("rdme_", 75), ("eyJrIjoi", 78), ("pat", 82), ("xkeysib-", 89),
    ("dt0c01.", 96), ("sntrys_eyJpYXQiO", 96), ("EAAC", 104), ("EAAM", 104), ("ABSK", 113), ("xoxe", 175),
    ("v1.0-", 176), ("ATATT3", 192), ("ops_eyJ", 257),
)  # fmt: skip

# a block: how its first line begins, and the words that one of them must hold; how its last line begins
BLOCKS = (
    ("private-key", "-----BEGIN ", "PRIVATE KEY", "-----END "),
    ("private-key", "---- BEGIN ", "PRIVATE KEY", "---- END "),
    ("private-key", "PuTTY-User-" + "Key-File-2: ", "", "Private-MAC:"),
    ("private-key", "PuTTY-User-" + "Key-File-3: ", "", "Private-MAC:"),
)

# the ends of names (in lower case) that credentials are assigned to
PASSWORDS = ("password", "passwd", "passphrase", "passwort", "kennwort", "pwd", "_pass", "dbpass", "storepass",
             "keypass", "requirepass", "--pass", "密码", "密碼", "口令", "パスワード")  # fmt: skip
# in sentences; `pwd` is a directory
SPOKEN_PASSWORDS = (*(name for name in PASSWORDS if name != "pwd"), "passcode", "mot de passe", "contraseña", "senha",
                    "пароль", "hasło", "비밀번호", "wachtwoord", "lösenord")  # fmt: skip
NAMES = (
    ("secret_access_key", "aws-secret-key"), ("secretaccesskey", "aws-secret-key"),
    ("aws_secret_key", "aws-secret-key"),
    ("private_key_id", "gcp-private-key-id"), ("dd_api_key", "datadog-key"), ("dd-api-key", "datadog-key"),
    ("dd_app_key", "datadog-key"), ("accountkey", "azure-key"), ("account_key", "azure-key"),
    ("sharedaccesskey", "azure-key"), ("api_key", "api-key"), ("apikey", "api-key"), ("api-key", "api-key"),
    ("access_key", "access-key"), ("accesskey", "access-key"), ("access-key", "access-key"),
    ("private_key", "private-key"), ("privatekey", "private-key"), ("secret_key", "secret"),
    ("secretkey", "secret"), ("signing_key", "secret"), ("encryption_key", "secret"), ("master_key", "secret"),
    ("auth_key", "secret"), ("presharedkey", "secret"), ("preshared_key", "secret"), ("preshared-key", "secret"),
    ("secret_key_base", "secret"), ("secret", "secret"), ("token", "token"), ("credential", "credential"),
    ("credentials", "credential"), ("auth", "credential"), ("密钥", "secret"), ("令牌", "token"),
)  # fmt: skip
# one of which each of these names has
STEMS = ("pass", "secret", "key", "token", "credential", "auth", "pwd", "wort", "identified by", "密", "口令", "令牌",
         "パスワード")  # fmt: skip
UPPER_ONLY = (("KEY", "key"),)  # too common a word in lower case

# how programs are given a password, and which: behind an option (`-p…` joined to it, `-p ` apart, else either) or the
# sign of a login (`-u:`), in any assignment (`=`), behind a user (`@`), by a pipe (`|`), or as the argument of that
# number, in texts with what stands behind it: `2(` in calls
COMMANDS = (
    ("-u:", ("curl",)), ("-U:", ("curl",)), ("-b=", ("curl",)), ("-b 3", ("htpasswd", "mosquitto_passwd")),
    ("--user:", ("curl",)), ("--proxy-user:", ("curl",)), ("--user%", ("smbclient",)),
    ("-U%", ("smbclient",)), ("--creds:", ("skopeo", "podman", "buildah", "oras")),
    ("--src-creds:", ("skopeo",)), ("--dest-creds:", ("skopeo",)),
    ("1:", ("http -a", "https -a", "xh -a", "http --auth", "https --auth", "xh --auth", "ab -A")),
    ("pass:…", ("openssl", "apksigner")), ("/p:…", ("xfreerdp",)), ("/pass:…", ("cmdkey",)),
    ("-p…", ("mysql", "mariadb", "7z", "rar", "unrar")),
    ("-p", ("sshpass", "docker login", "podman login", "registry login", "mongosh")),
    ("-p ", ("login", "mongo", "cqlsh", "cypher-shell", "beeline", "rabbitmqadmin", "rdesktop", "evil-winrm", "twine",
             "psexec", "PsExec", "az sql", "az vm", "nuget", "security unlock-keychain", "security create-keychain",
             "certutil")),
    ("-P ", ("sqlcmd", "mosquitto_", "zip", "unzip", "security import", "ssh-keygen")),
    ("-N ", ("ssh-keygen",)), ("-w", ("ldap",)), ("-w ", ("security add-",)), ("-s ", ("ldappasswd",)),
    ("-k ", ("openssl enc", "security set-key-partition-list")), ("-a ", ("redis-cli",)),
    ("-pw ", ("plink", "pscp", "psftp", "putty")), ("-b", ("gh secret set",)),
    ("--body", ("gh secret set",)), ("--secret-string", ("aws secretsmanager",)), ("--value", ("az keyvault secret",)),
    ("=", ("kubectl create secret", "vault kv put", "vault kv patch", "fly secrets", "flyctl secrets")),
    ("@", ("sqlplus", "expdp", "impdp", "rman", "sqlldr", "CONNECT")),
    ("|", ("chpasswd", "passwd --stdin", "--password-stdin", "--with-token", "sudo -S", "--data-file=-")),
    ("1/user:", ("net use",)), ("1assw", ("set-initial-password",)), ("1 -AsPlainText", ("ConvertTo-SecureString",)),
    ("2ass", ("rabbitmqctl change_password", "wpa_passphrase")),
    ("2(", ("HTTPBasicAuth", "NetworkCredential", "SetBasicAuth", "setBasicAuth", "basicAuth", ".login", "auth=")),
    ("3(", ("getConnection", "PDO", "mysqli", "PlainAuth")),
)  # fmt: skip
# what stands in every text of a form that `in_forms.py` knows
FORMS = (
    ("ookie", "cookie"), ("OOKIE", "cookie"), ("key=", "query"), ("code=", "query"), ("appid=", "query"),
    ("jdbc:oracle:", "oracle"), (":543", "pgpass"), (":6432:", "pgpass"), (":*:", "pgpass"), ("machine ", "netrc"),
    ("default login", "netrc"), ("kind: Secret", "kubernetes"), ('"Secret"', "kubernetes"), ("otpauth:/", "otpauth"),
    ("rtmp://", "stream"), ("rtmps://", "stream"),
)  # fmt: skip
SETTERS = ("set", "-x", "-gx", "-Ux", "setx", "ENV", "ARG")  # before a name and, without a sign, its value
SCHEMES = (
    "Bearer ",
    "Token ",
    "ApiKey ",
    "Bot ",
    "SSWS ",
    "Splunk ",
    "GenieKey ",
)  # what stands before a token; all but the first in a header alone
PLACEHOLDERS = frozenset((*PASSWORDS, "pass", "pw", "secret", "token"))  # what stands for one in a text about them
SAMPLES = (*PASSWORDS, "pass", "secret", "example", "your", "change", "placeholder", "sample")  # which it says, then
