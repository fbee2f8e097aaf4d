"""AWS Signature Version 4 over a request: what a client signs with and a server verifies by."""
import hashlib
import hmac
from urllib.parse import parse_qsl, quote


def _hmac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def canonical_query(query):
    pairs = sorted((quote(k, safe="-_.~"), quote(v, safe="-_.~")) for k, v in parse_qsl(query, True))
    return "&".join(f"{k}={v}" for k, v in pairs)


def signature(secret, request, signed, scope):
    """`request`: method, path (as sent), query, fields (lower-case names), payload (hash, or its word).
    `signed`: names of the signed fields; `scope`: "date/region/service/aws4_request"."""
    fields = "".join(f"{name}:{' '.join(request['fields'][name].split())}\n" for name in signed)
    canonical = "\n".join([request["method"], request["path"], canonical_query(request["query"]), fields,
                           ";".join(signed), request["payload"]])
    to_sign = "\n".join(["AWS4-HMAC-SHA256", request["fields"]["x-amz-date"], scope,
                         hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in scope.split("/"):
        key = _hmac(key, part)
    return hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()


def authorization(key_id, secret, request, scope):
    """The header of a client that signs every field it sends."""
    signed = sorted(request["fields"])
    made = signature(secret, request, signed, scope)
    return (f"AWS4-HMAC-SHA256 Credential={key_id}/{scope}, SignedHeaders={';'.join(signed)}, "
            f"Signature={made}")


def verify(key_id, secret, request, header):
    """Why the request is not signed by that key; empty: it is."""
    if not header.startswith("AWS4-HMAC-SHA256 "):
        return "not signed"
    parts = dict(part.strip().split("=", 1) for part in header.split(" ", 1)[1].split(","))
    given_id, scope = parts["Credential"].split("/", 1)
    if given_id != key_id:
        return f"signed by {given_id}"
    signed = parts["SignedHeaders"].split(";")
    if signature(secret, request, signed, scope) != parts["Signature"]:
        return "the signature is wrong"
    return ""
