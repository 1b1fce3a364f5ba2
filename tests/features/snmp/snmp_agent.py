"""Answers SNMP version 2c as a UPS and a PDU do, so that a real exporter reads them. ADDRESS COMMUNITY OID=NUMBER..."""

import socket
import sys

INTEGER, OCTETS, OID, SEQUENCE, RESPONSE, GET_BULK, END_OF_MIB = 0x02, 0x04, 0x06, 0x30, 0xA2, 0xA5, b"\x82\x00"


def read(data):
    """(tag, content, rest) of the first element."""
    length, start = data[1], 2
    if length & 0x80:
        start += length & 0x7F
        length = int.from_bytes(data[2:start], "big")
    return data[0], data[start : start + length], data[start + length :]


def parts(data):
    while data:
        tag, content, data = read(data)
        yield tag, content


def put(tag, content):
    size = len(content)
    length = bytes([size]) if size < 0x80 else bytes([0x82]) + size.to_bytes(2, "big")
    return bytes([tag]) + length + content


def number(value):
    return put(INTEGER, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))


def named(content):
    """The numbers of an OID."""
    numbers, value = [content[0] // 40, content[0] % 40], 0
    for byte in content[1:]:
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(value)
            value = 0
    return tuple(numbers)


def oid(numbers):
    content = bytes([numbers[0] * 40 + numbers[1]])
    for value in numbers[2:]:
        groups = [value & 0x7F]
        while value := value >> 7:
            groups.insert(0, value & 0x7F | 0x80)
        content += bytes(groups)
    return put(OID, content)


def answer(request, community, objects):
    """The next objects after each that is asked for; None for another community, which devices do not answer."""
    _, message, _ = read(request)
    (_, version), (_, name), (kind, pdu) = parts(message)
    if name.decode() != community:
        return None
    (_, ident), _, (_, most), (_, bindings) = parts(pdu)
    count = int.from_bytes(most, "big") if kind == GET_BULK else 1
    rows = b""
    for _, binding in parts(bindings):
        (_, content), _ = parts(binding)
        after = [key for key in sorted(objects) if key > named(content)][:count]
        rows += b"".join(put(SEQUENCE, oid(key) + number(objects[key])) for key in after)
        if len(after) < count:
            rows += put(SEQUENCE, put(OID, content) + END_OF_MIB)
    reply = put(INTEGER, ident) + number(0) + number(0) + put(SEQUENCE, rows)
    return put(SEQUENCE, put(INTEGER, version) + put(OCTETS, name) + put(RESPONSE, reply))


def serve(address, community, *texts):
    pairs = (text.split("=") for text in texts)
    objects = {tuple(map(int, key.split("."))): int(value) for key, value in pairs}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((address, 161))
        while True:
            request, client = server.recvfrom(65535)
            if reply := answer(request, community, objects):
                server.sendto(reply, client)


if __name__ == "__main__":
    serve(*sys.argv[1:])
