"""Challenge pages are told by how they are built: their kinds are found, and problems that speak of them are not."""

from __future__ import annotations

import json

import pytest

from ingest.web.challenges import find_challenge

# Written by us in the shape of the real ones: what their makers' names hang on is kept, the rest is short.
MANAGED = b"""<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title>
<meta name="robots" content="noindex,nofollow"></head><body class="no-js"><div class="main-wrapper" role="main">
<noscript><div class="h2"><span id="challenge-error-text">Scripts must be on</span></div></noscript></div>
<script>(function(){window._cf_chl_opt = {cvId: '3', cZone: 'site.example', cType: 'managed', cRay: 'a'};
var a = document.createElement('script'); a.src = '/cdn-cgi/challenge-platform/h/g/orchestrate/chl_page/v1?ray=a';
document.getElementsByTagName('head')[0].appendChild(a);}());</script></body></html>"""
LOCALISED = MANAGED.replace(b"Just a moment...", "少々お待ちください".encode())
OLD = b"""<html><head><title>Please wait</title></head><body><h1>One moment</h1>
<form id="challenge-form" action="/x?__cf_chl_f_tk=abc" method="POST"><input type="hidden" name="md" value="1"></form>
</body></html>"""
OLDEST = b"""<html><body><form action="/cdn-cgi/l/chk_jschl"><input name="jschl_vc" value="1"><input name="pass"></form>
</body></html>"""
RCPC = b"""<html><body>Redirecting... Please, wait.<script type="text/javascript" src="/aes.min.js"></script>
<script>function toNumbers(d){return d}var a=toNumbers("e9"),b=toNumbers("18"),c=toNumbers("8d");
document.cookie="RCPC="+a+b+c+"; path=/";document.location.href="https://site.example/?f0a28=1";</script></body></html>"""
ADMINISTRATOR = b"""<html><head><title>Site</title></head><body><h2>The page is temporarily blocked by administrator.
</h2></body></html>"""
CAPTCHA = b"""<html><head><title>Security check</title><script src="https://www.google.com/recaptcha/api.js"></script>
</head><body><p>Show that you are no robot.</p><form method="post"><div class="g-recaptcha" data-sitekey="k"></div>
<input type="submit"></form></body></html>"""
TURNSTILE = CAPTCHA.replace(b"g-recaptcha", b"cf-turnstile")
INCAPSULA = b'<html><head></head><body><iframe src="/_Incapsula_Resource?CWUDNSAI=1"></iframe></body></html>'

LEGEND = """<p>A robot has to solve a captcha before the contest. The page says "Just a moment..." and "Redirecting...
Please, wait." until it has found the longest palindrome; sometimes it says "The page is temporarily blocked by
administrator." Its source holds <code>window._cf_chl_opt = {}</code>, <code>&lt;div class="cf-turnstile"&gt;</code> and
<code>document.cookie="RCPC="</code>. Given the string, print the answer to the challenge.</p>"""
SAMPLE = "<pre>Just a moment...\ncf-chl turnstile g-recaptcha jschl challenge-form</pre>"
STATEMENT = f"""<!DOCTYPE html><html><head><title>Problem - A - Site</title>
<script>(function(){{window.__CF$cv$params={{r:'a',t:'b'}};var a=document.createElement('script');
a.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js';}})();</script></head>
<body><div class="problem-statement"><div class="title">A. Captcha Challenge</div>{LEGEND}{SAMPLE}</div></body>"""


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (MANAGED, "a Cloudflare challenge"),
        (LOCALISED, "a Cloudflare challenge"),
        (OLD, "a Cloudflare challenge"),
        (OLDEST, "a Cloudflare challenge"),
        (b"<title>Just a moment...</title><p>Checking your browser</p>", "a Cloudflare challenge"),
        (RCPC, "the Codeforces cookie page"),
        (RCPC.partition(b"<script")[0], "the notice 'Redirecting... Please, wait.'"),
        (ADMINISTRATOR, "the notice 'The page is temporarily blocked by administrator'"),
        (b"The page is temporarily blocked by administrator.\n", "the notice"),
        (b"\xef\xbb\xbf\r\n" + RCPC, "the Codeforces cookie page"),
        (CAPTCHA, "a captcha"),
        (TURNSTILE, "a captcha"),
        (INCAPSULA, "an Incapsula challenge"),
    ],
)
def test_what_is_sent_in_place_of_a_page_is_found(body: bytes, what: str) -> None:
    found = find_challenge({}, body)
    assert found is not None
    assert found.startswith(what)


SCRIPT = b"<html><script>RCPC "
BODY = b"<html><body>captcha "


@pytest.mark.parametrize(
    ("start", "piece", "n_bytes"),
    [
        # Each takes minutes where anything looks from each place of it through all the rest.
        (SCRIPT, b"RCPC ", 250_000),
        (SCRIPT, b"toNumbers ", 250_000),
        (SCRIPT, b"_cf_chl_opt ", 250_000),
        (SCRIPT + b"_cf_chl_opt", b" ", 250_000),
        (SCRIPT, b"document.cookie = ", 250_000),
        (SCRIPT + b"document.cookie=", b"\n", 250_000),
        (BODY, b"<div><img>", 250_000),
        (BODY, b"<div id=captcha>", 250_000),
        (BODY, b"<noscript>", 250_000),
        (BODY, b"<a><b></a>", 250_000),
        (BODY + b"<p ", b"a=1 ", 250_000),
        (SCRIPT, b"RCPC ", 500_000),
        (BODY, b"<div><img>", 500_000),
        (BODY, b"<div><img>", 100_000_000),
        (b" " * 2000, b"\n", 100_000_000),
        (b"RCPC ", b"captcha ", 100_000_000),
    ],
)
def test_a_page_that_is_made_to_take_long_does_not(start: bytes, piece: bytes, n_bytes: int) -> None:
    assert find_challenge({}, start + piece * (n_bytes // len(piece))) is None


@pytest.mark.parametrize("script", [b"toNumbers(1); x = RCPC;", b"RCPC;\n\ntoNumbers(1)"])
def test_the_words_of_a_script_are_found_in_any_order(script: bytes) -> None:
    assert find_challenge({}, b"<script>" + script + b"</script>") == "the Codeforces cookie page"
    assert find_challenge({}, b"<script>" + script.replace(b"RCPC", b"xRCPC") + b"</script>") is None


def test_a_picture_below_a_captcha_is_one() -> None:
    page = b'<body><p>Look</p><div id="captcha_box"><p><img src="x"></p></div>'
    assert find_challenge({}, page) == "a captcha"
    assert find_challenge({}, page.replace(b"<img src", b"<i src")) is None
    hidden = b"<style>" + b"x " * 900 + b"</style><!-- " + b"y " * 900 + b"-->"
    assert find_challenge({}, page + hidden) == "a captcha", "what is not shown makes no page"


@pytest.mark.parametrize("headers", [{"cf-mitigated": "challenge"}, {"x-amzn-waf-action": "captcha"}])
def test_headers_that_only_challenges_carry(headers: dict[str, str]) -> None:
    assert find_challenge(headers, b"{}") == f"a challenge (header {next(iter(headers))})"
    assert find_challenge({"cf-ray": "1", "server": "cloudflare"}, b"{}") is None


@pytest.mark.parametrize(
    "body",
    [
        STATEMENT.encode(),
        f"<html><body>{LEGEND}</body></html>".encode(),
        f"<html><head><title>Just a Moment...</title></head><body>{LEGEND}</body></html>".encode(),
        json.dumps({"data": {"question": {"content": STATEMENT + MANAGED.decode()}}}).encode(),
        f'<html><body><script type="application/json">{json.dumps(LEGEND)}</script><p>Task</p></body></html>'.encode(),
        # A real page with a login form of its own, which holds a widget.
        b'<html><body><form><div class="cf-turnstile"></div></form>' + b"<p>The words of a task.</p>" * 50,
        b"Redirecting is the topic of this text. The page is temporarily blocked by administrator.",
        b"<html><body><p>captcha</p></body></html>",
        b"<html><head><title>A</title></head><body>\xff\xfe turnstile</body></html>",
        b"%PDF-1.4 captcha",
        b"",
        b"\x00\x01RCPC=",
        b"<p>challenge-form</p>" * 100_000,
    ],
)
def test_pages_that_only_speak_of_challenges_are_pages(body: bytes) -> None:
    assert find_challenge({}, body) is None
