"""The fence around what a model is told, as a test sees it."""

import re

_ENDS = re.compile(r"[(（](?:end of recorded data|记录的资料到此为止) ([0-9a-f]{8})[)）]")


def nonces(text):
    """The nonce of each fence that ends in the text."""
    return _ENDS.findall(text)


def without_nonces(text):
    """The text with the same nonce everywhere: it is made of what differs from machine to machine, too."""
    for nonce in nonces(text):
        text = text.replace(nonce, "0" * 8)
    return text
