"""The look of the tokens of many services, as data: made by `make secrets-rules` on 2026-11-23.

From the rules of gitleaks, commit b58d3f102cf3a2c84cb7f923d05c25c9b1aed84b.
Copyright (c) 2019 Zachary Rice, MIT License: fixtures/secrets/LICENSE-gitleaks.

Imported inside agents' hooks where a text has a long word: nothing to compile.
"""

_0 = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_1 = "+/0123456789=ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_2 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_3 = ".0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_4 = "-0123456789=ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_5 = "-0123456789abcdef"
_6 = "0123456789ABCDEFGHabcdefgh"
_7 = "-0123456789ABCDEFGHXabcdefghx"
_8 = "0123456789abcdefghijklmnopqrstuvwxyz"
_9 = "0123456789=ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_A = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_B = "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_C = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_D = "0123456789ABCDEFabcdef"
_E = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_F = "-.0123456789=ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_10 = "0123456789abcdef"
_11 = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_12 = "+/0123456789=ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"

# kind, what it begins with, the characters that follow, at least and (unless 0) at most so many of them, entropy
TOKEN_RULES = (
    ("1password-secret-key", ("A3-",), _0, 36, 0, 3.8),
    ("1password-service-account-token", ("ops_eyJ",), _1, 250, 0, 4.0),
    ("adobe-client-secret", ("p8e-",), _2, 32, 32, 2.0),
    ("airtable-personnal-access-token", ("pat",), _3, 79, 0, 0.0),
    ("alibaba-access-key-id", ("LTAI",), _2, 20, 20, 2.0),
    ("artifactory-api-key", ("AKCp",), _2, 69, 69, 4.5),
    ("artifactory-reference-token", ("cmVmd",), _2, 59, 59, 4.5),
    ("atlassian-api-token", ("ATATT3",), _4, 186, 0, 3.5),
    ("aws-amazon-bedrock-api-key-long-lived", ("ABSK",), _1, 109, 0, 3.0),
    ("clickhouse-cloud-api-secret-key", ("4b1d",), _2, 38, 38, 3.0),
    ("clojars-api-token", ("CLOJARS_",), _2, 60, 60, 2.0),
    ("cloudflare-origin-ca-key", ("v1.0-",), _5, 171, 0, 2.0),
    ("databricks-api-token", ("dapi",), _5, 32, 0, 3.0),
    ("doppler-api-token", ("dp.pt.",), _2, 43, 43, 2.0),
    ("duffel-api-token", ("duffel_live_", "duffel_test_"), _4, 43, 0, 2.0),
    ("dynatrace-api-token", ("dt0c01.",), _3, 89, 0, 4.0),
    ("easypost-api-token", ("EZAK",), _2, 54, 54, 2.0),
    ("easypost-test-api-token", ("EZTK",), _2, 54, 54, 2.0),
    ("facebook-page-access-token", ("EAAC", "EAAM"), _2, 100, 0, 4.0),
    ("flutterwave-encryption-key", ("FLWSECK_TEST-",), _6, 12, 12, 2.0),
    ("flutterwave-public-key", ("FLWPUBK_TEST-",), _7, 34, 0, 2.0),
    ("flutterwave-secret-key", ("FLWSECK_TEST-",), _7, 34, 0, 2.0),
    ("frameio-api-token", ("fio-u-",), _4, 64, 0, 0.0),
    ("gitlab-session-cookie", ("_gitlab_session=",), _8, 32, 32, 3.0),
    ("grafana-api-key", ("eyJrIjoi",), _9, 70, 0, 3.0),
    ("grafana-cloud-api-token", ("glc_",), _1, 32, 0, 3.0),
    ("grafana-service-account-token", ("glsa_",), _A, 41, 0, 3.0),
    ("harness-api-key", ("pat.", "sat."), _B, 68, 0, 0.0),
    ("heroku-api-key-v2", ("HRKU-AA",), _C, 58, 0, 4.0),
    ("infracost-api-token", ("ico-",), _2, 32, 32, 3.0),
    ("intra42-client-secret", ("s-s4t2af-", "s-s4t2ud-"), _D, 64, 64, 3.0),
    ("notion-api-token", ("ntn_",), _2, 46, 46, 4.0),
    ("octopus-deploy-api-key", ("API-",), _E, 26, 26, 3.0),
    ("openshift-user-token", ("sha256~",), _C, 43, 0, 3.5),
    ("planetscale-api-token", ("pscale_tkn_",), _F, 32, 0, 3.0),
    ("planetscale-oauth-token", ("pscale_oauth_",), _F, 32, 0, 3.0),
    ("planetscale-password", ("pscale_pw_",), _F, 32, 0, 3.0),
    ("prefect-api-token", ("pnu_",), _2, 36, 36, 2.0),
    ("pulumi-api-token", ("pul-",), _10, 40, 40, 2.0),
    ("readme-api-token", ("rdme_",), _8, 70, 70, 2.0),
    ("rubygems-api-token", ("rubygems_",), _10, 48, 48, 2.0),
    ("scalingo-api-token", ("tk-us-",), _C, 48, 0, 2.0),
    ("sendgrid-api-token", ("SG.",), _F, 66, 0, 2.0),
    ("sendinblue-api-token", ("xkeysib-",), _11, 81, 0, 2.0),
    ("sentry-org-token", ("sntrys_eyJpYXQiO",), _12, 80, 0, 4.5),
    ("sentry-user-token", ("sntryu_",), _10, 64, 64, 3.5),
    ("settlemint-application-access-token", ("sm_aat_",), _2, 16, 16, 3.0),
    ("settlemint-personal-access-token", ("sm_pat_",), _2, 16, 16, 3.0),
    ("settlemint-service-access-token", ("sm_sat_",), _2, 16, 16, 3.0),
    ("shippo-api-token", ("shippo_live_", "shippo_test_"), _D, 40, 40, 2.0),
    ("slack-config-access-token", ("xoxe",), _C, 171, 0, 2.0),
    ("slack-user-token", ("xoxe", "xoxp"), _11, 62, 0, 2.0),
    ("square-access-token", ("EAAA", "sq0atp-"), _C, 22, 0, 2.0),
    ("stripe-access-token", ("rk_live_", "rk_prod_", "rk_test_", "sk_live_", "sk_prod_", "sk_test_"), _2, 10, 99, 2.0),
)
