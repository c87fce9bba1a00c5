#!/usr/bin/python3
"""snip serve by its API, without a browser: serve.py SNIP SOURCE [many]

Every route with good and bad input, requests that are none, limits, several clients, clients that go away, the end.
With `many`, 100,000 requests are watched for growth of memory instead of 2,000, and 10,000 malformed ones are sent
instead of 300."""
import http.client
import json
import math
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

SNIP, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
MANY, MALFORMED = (100000, 10000) if "many" in sys.argv[3:] else (2000, 300)
MODEL = os.path.join(SOURCE, "models", "default.safetensors")
CSV, JSON = "text/csv", "application/json"
HARD = "x,y,z\n" + "".join(f"{i % 17 + .5},{i % 13 - 3},{(i * 7919) % 101 - 50}\n" for i in range(200))


class Server:
    def __init__(self, *options, env=None):
        self.process = subprocess.Popen([SNIP, "serve", "--port", "0", "--model", MODEL, *options], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=env)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"http://([\d.]+):(\d+)/(?:\?token=(\S+))?\n", line)
        if not found:
            raise AssertionError(f"no address: {line!r} {self.process.stderr.read()}")
        self.host, self.port, self.token = found[1], int(found[2]), found[3]

    def ask(self, method, path, body=None, type=JSON, headers=None, timeout=60):
        """Status and the JSON of the answer."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            if isinstance(body, (dict, list)):
                body = json.dumps(body)
            c.request(method, path, body, {**({"Content-Type": type} if body is not None and type else {}), **(headers or {})})
            r = c.getresponse()
            data = r.read()
            self.headers = r.headers
            return r.status, json.loads(data) if r.headers["Content-Type"] == JSON else data
        finally:
            c.close()

    def get(self, path, **how):
        return self.ask("GET", path, **how)

    def post(self, path, body, **how):
        return self.ask("POST", path, body, **how)

    def table(self, text="x,y\n" + "".join(f"{i},{2 * i + 1}\n" for i in range(1, 40)), name="t.csv"):
        status, t = self.post("/api/table?name=" + name, text, type=CSV)
        assert status == 200, (status, t)
        return t

    def raw(self, data, wait=2, end=False):
        """The answer to these bytes; what there is of it if it ends or stalls."""
        s = socket.create_connection(("127.0.0.1", self.port), timeout=wait)
        out = b""
        try:
            s.sendall(data)
            if end:
                s.shutdown(socket.SHUT_WR)
            while True:
                got = s.recv(65536)
                if not got:
                    break
                out += got
                head, gap, body = out.partition(b"\r\n\r\n")
                length = re.search(rb"Content-Length: (\d+)", head)
                if gap and length and len(body) >= int(length[1]):
                    break
        except (TimeoutError, ConnectionError):
            pass
        finally:
            s.close()
        return out

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1]) / 1024

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self):
        """Seconds until the server was gone, and how it went."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        try:
            code = self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            code = "hangs"
        seconds = time.monotonic() - begin
        messages = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return seconds, code, messages


def stream(server, fit):
    s = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    s.sendall(f"GET /api/fit/{fit}/events HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n\r\n".encode())
    return s


def ended(server, fit, seconds=30):
    """The state of a search when it is done."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        status, state = server.get("/api/fit/" + fit)
        if status != 200 or state["done"]:
            return state
        time.sleep(.05)
    raise AssertionError("the search goes on")


class Serve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.s = Server("--max-upload", "1M")
        cls.drip = threading.Thread(target=cls.send_slowly)
        cls.drip.start()  # it takes its time while the others run

    @classmethod
    def send_slowly(cls):
        """Requests that come a byte a second, one in its head and one in its body: how long the server bears them."""
        begin, cls.borne = time.monotonic(), {}
        parts = {"head": b"GET / HTTP/1.1\r\nX: ", "body": f"POST /api/rank HTTP/1.1\r\nHost: 127.0.0.1:{cls.s.port}\r\nContent-Type: application/json\r\n"
                                                       "Content-Length: 100000\r\n\r\n".encode()}
        slow = {k: socket.create_connection(("127.0.0.1", cls.s.port), timeout=60) for k in parts}
        for k, s in slow.items():
            s.sendall(parts[k])
            s.setblocking(False)
        while len(cls.borne) < len(slow) and time.monotonic() < begin + 120:
            time.sleep(1)
            for k, s in slow.items():
                try:
                    s.send(b"x")
                    gone = s.recv(1000) == b""
                except BlockingIOError:
                    continue
                except OSError:
                    gone = True
                if gone:
                    cls.borne.setdefault(k, time.monotonic() - begin)
        for s in slow.values():
            s.close()

    @classmethod
    def tearDownClass(cls):
        seconds, code, messages = cls.s.stop()
        assert code == 0 and messages == "snip serve: Ctrl-C stops the server\n", (code, messages)

    def setUp(self):
        self.begin = time.monotonic()

    def tearDown(self):
        print(f"{time.monotonic() - self.begin:.1f} s", end=" ", file=sys.stderr)

    def check(self, got, status, part=None):
        self.assertEqual(got[0], status, got[1])
        if part is not None:
            self.assertIn(part, got[1]["error"])
        return got[1]

    # ---- the page ----

    def test_page(self):
        weight = 0
        for path, begin in [("/", b"<!DOCTYPE html>"), ("/app.js", b'"use strict"'), ("/style.css", b":root"), ("/icon.svg", b"<svg")]:
            status, text = self.s.get(path)
            self.assertEqual(status, 200)
            self.assertTrue(text.startswith(begin), path)
            weight += len(text)
            policy = self.s.headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(self.s.headers["X-Content-Type-Options"], "nosniff")
            if path == "/":
                self.assertNotRegex(text, rb"<script(?! src=)|\son\w+=|\sstyle=|https?:")
        self.assertLess(weight, 200 * 1024)

    def test_nothing_of_the_file_system(self):
        for path in ["/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/etc/passwd",
                     "/api/table/../..", "/api/table/..%2f..", "/api/../app.js", "/app.js/", "/index.html", "/api", "/api/",
                     "/api/table/", "/api/fit//events", "/api/info/x"]:
            reply = self.s.raw(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.s.port}\r\nConnection: close\r\n\r\n".encode())
            self.assertTrue(reply.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400")), (path, reply[:100]))
            self.assertNotIn(b"root:", reply)

    # ---- who may ask ----

    def test_host(self):
        for host in ["evil.example", f"evil.example:{self.s.port}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1:{self.s.port}.evil.example", ""]:
            for path in ["/", "/api/info"]:
                self.check(self.s.get(path, headers={"Host": host}), 403, "Host")
        for host in ["127.0.0.1", "localhost"]:
            self.check(self.s.get("/api/info", headers={"Host": f"{host}:{self.s.port}"}), 200)
        self.assertRegex(self.s.raw(b"GET / HTTP/1.0\r\n\r\n"), rb"^HTTP/1.[01] (403|400) ")

    def test_origin(self):
        own = f"http://127.0.0.1:{self.s.port}"
        for origin in ["http://evil.example", "null", "https://" + own[7:], own + ".evil.example", f"http://localhost:{self.s.port}"]:
            self.check(self.s.post("/api/table", {"example": "kepler.csv"}, headers={"Origin": origin}), 403, "other sites")
        self.check(self.s.post("/api/table", {"example": "kepler.csv"}, headers={"Origin": own}), 200)

    def test_type(self):
        for kind in [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp", "text/csvx"]:
            headers = {"Content-Type": kind} if kind else {}
            self.check(self.s.post("/api/table", '{"example":"kepler.csv"}', type=None, headers=headers), 415, "application/json or text/csv")
        for kind in ["application/json; charset=utf-8", "Application/JSON"]:
            self.check(self.s.post("/api/table", {"example": "kepler.csv"}, type=kind), 200)
        self.check(self.s.post("/api/table", "x,y\n1,2\n2,3\n3,4\n", type=JSON), 400, "not a JSON object")
        t = self.check(self.s.post("/api/table", "{a},b\n" + "".join(f"{i},{i * i}\n" for i in range(20)), type=CSV), 200)
        self.assertEqual([c["name"] for c in t["columns"]], ["{a}", "b"])

    def test_method(self):
        self.check(self.s.get("/api/rank"), 405, "wants POST")
        self.check(self.s.post("/api/info", {}), 405, "wants GET")
        for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "BREW"]:
            self.check(self.s.ask(method, "/api/info"), 405, "GET and POST")
        self.check(self.s.get("/nothing"), 404, "no such page")
        self.check(self.s.get("/api/nothing"), 404, "no such address")

    def test_token(self):
        s = Server("--token", "s3cret-._~")
        try:
            self.assertEqual(s.token, "s3cret-._~")
            for path in ["/", "/api/info", "/api/info?token=", "/api/info?token=s3cret", "/api/info?token=s3cret-._~x", "/api/nothing"]:
                self.check(s.get(path), 401, "token")
            for shown in ["s3cret-._~", "Bearer ", "Bearer s3cret-._", "Basic s3cret-._~"]:
                self.check(s.get("/api/info", headers={"Authorization": shown}), 401)
            self.check(s.get("/api/info?token=s3cret-._~"), 200)
            self.check(s.get("/api/info", headers={"Authorization": "Bearer s3cret-._~"}), 200)
            self.assertEqual(s.get("/?token=s3cret-._~")[0], 200)
        finally:
            self.assertEqual(s.stop()[1], 0)
        for wrong, part in [(["--host", "0.0.0.0"], "needs a token"), (["--host", "example.org"], "not an IPv4"), (["--token", "a b"], "--token"),
                            (["--max-upload", "x"], "--max-upload"), (["--port", str(self.s.port)], "in use"), (["a", "b"], "at most one")]:
            r = subprocess.run([SNIP, "serve", "--port", "0", *wrong], capture_output=True, text=True, timeout=60)
            self.assertNotEqual(r.returncode, 0)
            self.assertIn(part, r.stderr)
            self.assertEqual(r.stderr.count("\n"), 1)

    def test_everywhere(self):
        """Listening at all addresses: numbers are answered, names are not."""
        s = Server("--host", "0.0.0.0", "--token", "t")
        try:
            for host, status in [("192.0.2.7", 200), ("0.0.0.0", 200), ("evil.example", 403), ("192.0.2.7.evil.example", 403)]:
                self.check(s.get("/api/info?token=t", headers={"Host": f"{host}:{s.port}"}), status)
            self.assertRegex(s.raw(b"GET /api/info?token=t HTTP/1.0\r\n\r\n"), rb"^HTTP/1.[01] (403|400) ")
        finally:
            self.assertEqual(s.stop()[1], 0)

    # ---- requests that are none ----

    def test_malformed(self):
        """Random bytes, wrong lengths, requests that stop: an error or silence, and the next client is answered."""
        rng = random.Random(7)
        good = f"POST /api/rank HTTP/1.1\r\nHost: 127.0.0.1:{self.s.port}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}".encode()
        for k in range(MALFORMED):
            if k % 3 == 0:
                data = rng.randbytes(rng.randrange(1, 400)) + b"\r\n\r\n"
            else:
                data = bytearray(good)
                for _ in range(rng.randrange(1, 6)):
                    at = rng.randrange(len(data))
                    data[at:at + rng.randrange(3)] = rng.randbytes(rng.randrange(3))
            reply = self.s.raw(bytes(data), end=True, wait=.3)
            self.assertTrue(not reply or re.match(rb"HTTP/1\.[01] (100|[45]\d\d) ", reply), (data, reply[:200]))
        self.check(self.s.get("/api/info"), 200)

    def test_lengths(self):
        head = f"POST /api/rank HTTP/1.1\r\nHost: 127.0.0.1:{self.s.port}\r\nContent-Type: application/json\r\n"
        for length in ["-1", "x", "99999999999999999999999", "1 2", ""]:
            reply = self.s.raw((head + f"Content-Length: {length}\r\n\r\n{{}}").encode(), end=True)
            self.assertFalse(re.match(rb"HTTP/1.1 (2\d\d|5\d\d)", reply), (length, reply[:100]))
        reply = self.s.raw((head + "Content-Length: 50\r\n\r\n{}").encode(), end=True)  # and no more
        self.assertFalse(reply.startswith(b"HTTP/1.1 2"), reply)
        reply = self.s.raw((head + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n").encode(), end=True)
        self.assertFalse(reply.startswith(b"HTTP/1.1 2"), reply)
        reply = self.s.raw((head + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n").encode())
        self.assertTrue(reply.startswith(b"HTTP/1.1 404"), reply)

    def test_large_head(self):
        own = f"Host: 127.0.0.1:{self.s.port}\r\n"
        for data in [f"GET / HTTP/1.1\r\n{own}X: {'a' * 500000}\r\n\r\n", f"GET /{'a' * 500000} HTTP/1.1\r\n{own}\r\n",
                     f"GET / HTTP/1.1\r\n{own}" + "X: y\r\n" * 60000 + "\r\n", f"GET /api/info?{'a=b&' * 5000} HTTP/1.1\r\n{own}Connection: close\r\n\r\n"]:
            reply = self.s.raw(data.encode())
            self.assertTrue(not reply or re.match(rb"HTTP/1.1 (4\d\d|200)", reply), reply[:100])
        self.check(self.s.get("/api/info"), 200)

    def test_json(self):
        t = self.s.table()["table"]
        bodies = ["", "null", "[]", "3", '"x"', "{", '{"a":', "{}{}", '{"a":1,}', "\0", '{"a":"\\u0000"}', '{"a":"\\ud800"}', "[" * 100000,
                  '{"a":' * 5000, b'{"a":"\xff"}', '{"a":1e999}', "\ufeff{}"]
        for route in ["rank", "explain", "formula", "find", "embed", "map", "fit", "table"]:
            for body in bodies:
                self.check(self.s.post("/api/" + route, body.encode() if isinstance(body, str) else body), 400, "not a JSON object")
            for table in [None, 3, [], {}, "", "0" * 32, "../" * 9, "x" * 70000, t[:-1], t + "0"]:
                if route not in ["formula", "embed"]:
                    self.check(self.s.post("/api/" + route, {"table": table, "formula": "x"}), 404, "no such table")
        wrong = [None, 3, [], {}, [[]], True, ["x", 3], [None], "", ")", "x +", "nothing", "x" * 30000, "(" * 15000, "é + x", ["x"] * 1001]
        for route in ["rank", "explain", "formula", "map"]:
            for value in wrong:
                key = "formulas" if isinstance(value, list) else "formula"
                if route == "map" and (key == "formula" or value == []):
                    continue
                answer = self.check(self.s.post("/api/" + route, {"table": t, key: value}), 422)
                self.assertIsInstance(answer["error"], str)

    # ---- tables ----

    def test_info(self):
        i = self.check(self.s.get("/api/info"), 200)
        self.assertEqual(len(i["examples"]), 5)
        self.assertEqual(i["operators"]["add"], 2)
        self.assertIsNone(i["table"])
        for x in i["examples"]:
            t = self.check(self.s.post("/api/table", {"example": x["name"]}), 200)
            self.assertIsNone(t["error"])
            self.assertGreater(t["rows"], 5)
        self.check(self.s.post("/api/table", {"example": "passwd"}), 404, "no such example")

    def test_table(self):
        t = self.s.table("a,b,c\n" + "".join(f"{i},{i * i},{-i}\n" for i in range(1, 21)) + ",,\n")
        self.assertEqual((t["rows"], t["error"], t["name"]), (20, None, "t.csv"))
        self.assertEqual([c["role"] for c in t["columns"]], ["input", "input", "target"])
        self.assertEqual(t["preview"][1], [2, 4, -2])
        self.assertEqual(sum(t["columns"][0]["histogram"]), 20)
        self.assertIn("1 row with missing", t["notes"][0])
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as f:  # the command line says the same
            rows = "a,,b,y\n" + "".join(f"{i},7,{i * i},{-i}\n" for i in range(1, 21)) + "1,,,2\n"
            f.write(rows)
            f.flush()
            r = subprocess.run([SNIP, "explain", f.name, "a", "--model", MODEL, "--drop-nan", "--try", "1"], capture_output=True, text=True)
        said = [line.removeprefix("snip explain: ").removesuffix(" (--columns names the inputs to use)") for line in r.stderr.splitlines()]
        self.assertEqual(said, self.s.table(rows)["notes"])
        self.assertEqual(len(said), 3)
        self.assertEqual(self.s.get("/api/table/" + t["table"])[1], t)
        u = self.check(self.s.post("/api/table", {"table": t["table"], "target": "b", "columns": ["a"]}), 200)
        self.assertEqual([c["role"] for c in u["columns"]], ["input", "target", "unused"])
        self.assertNotEqual(u["table"], t["table"])
        for target, columns in [("nothing", None), (None, ["nothing"]), ("b", ["b"]), ("b", []), ("b", [3]), ("a", ["b", "b"])]:
            status, answer = self.s.post("/api/table", {"table": t["table"], **({"target": target} if target else {}), **({} if columns is None else {"columns": columns})})
            self.assertTrue(status == 422 or answer["error"], (target, columns, answer))
        self.check(self.s.get("/api/table/" + "0" * 32), 404, "send it again")

    def test_bad_table(self):
        self.check(self.s.post("/api/table", b"", type=CSV), 422, "empty")
        t = self.check(self.s.post("/api/table?name=bad.csv", "name,y\nanna,1\nbert,2\n", type=CSV), 200)
        self.assertRegex(t["error"], r"bad\.csv.*anna")
        for route in ["rank", "explain", "formula", "find", "embed", "map", "fit"]:
            self.check(self.s.post("/api/" + route, {"table": t["table"], "formula": "y"}), 422, "anna")
        rng = random.Random(3)
        for k in range(40):
            data = rng.randbytes(rng.randrange(1, 300)) if k % 2 else "".join(rng.choice('01,.;"\n\txe-é\r') for _ in range(80)).encode()
            status, answer = self.s.post("/api/table", data, type=CSV)
            self.assertIn(status, (200, 422), answer)

    def test_names(self):
        """Names of all kinds come back as data and can be chosen and computed with."""
        names = ['<script>alert(1)</script>', 'a "quoted" name', "it's", "back`tick", "</script><img src=x>", "ünïcode", "a,b", "%s%n"]
        head = ",".join('"' + n.replace('"', '""') + '"' for n in names)
        t = self.s.table(head + "\n" + "".join(",".join(str(i * (k + 1) + k % 3) for k in range(len(names))) + "\n" for i in range(1, 20)), "%3Cb%3E%22.csv")
        self.assertEqual(self.s.headers["Content-Type"], JSON)
        self.assertEqual([c["name"] for c in t["columns"]], names)
        self.assertEqual(t["name"], '<b>".csv')
        for k in range(len(names)):
            u = self.check(self.s.post("/api/table", {"table": t["table"], "target": names[k], "columns": [names[k - 1]]}), 200)
            self.assertIsNone(u["error"])
            self.assertEqual(u["columns"][k]["role"], "target")
            self.assertEqual(u["columns"][k - 1]["role"], "input")
        t = self.s.table("x,y\n1,2\n2,3\n3,5\n", "%ff" * 80)
        self.assertIsInstance(t["name"], str)

    def test_eviction(self):
        first = self.s.table()["table"]
        kept = self.s.table()["table"]
        for k in range(15):
            self.check(self.s.get("/api/table/" + kept), 200)
            self.s.table()
        self.check(self.s.get("/api/table/" + first), 404)
        self.check(self.s.get("/api/table/" + kept), 200)

    def test_upload_limit(self):
        most = 1 << 20
        row = b"1.25,2.5\n"
        fits = b"x,y\n" + row * ((most - 4) // len(row))
        self.check(self.s.post("/api/table", fits, type=CSV), 200)
        self.check(self.s.post("/api/table", b"x,y\n" + row * (most // len(row) + 1), type=CSV), 413, "1 MB")
        head = f"POST /api/table HTTP/1.1\r\nHost: 127.0.0.1:{self.s.port}\r\nContent-Type: text/csv\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        reply = self.s.raw(head.encode() + (b"10000\r\n" + b"1" * 65536 + b"\r\n") * 20 + b"0\r\n\r\n")  # a length is not told
        self.assertTrue(reply.startswith(b"HTTP/1.1 413"), reply[:60])

    # ---- formulas ----

    def test_rank(self):
        t = self.s.table()["table"]
        r = self.check(self.s.post("/api/rank", {"table": t, "formulas": ["3*x + 2", "x^2", "sin(x)"]}), 200)
        best = r["candidates"][0]
        self.assertGreater(best["r2_val"], 1 - 1e-9)
        r = self.check(self.s.post("/api/rank", {"table": t, "formula": "3*x + 2", "refit": False}), 200)
        self.assertLess(r["candidates"][0]["r2_val"], .999)
        answer = self.check(self.s.post("/api/rank", {"table": t, "formulas": ["x", "x + * 2"]}), 422)
        self.assertEqual((answer["formula"], answer["pos"]), (1, 4))

    def test_formula(self):
        t = self.s.table()["table"]
        f = self.check(self.s.post("/api/formula", {"formula": "2*x + 1", "table": t}), 200)
        self.assertEqual(f["predicted"], f["measured"])
        self.assertEqual(f["prefix"], "add,mul,2,x_0,1")  # whatever the columns are called
        f = self.check(self.s.post("/api/formula", {"formula": "sqrt(x0)"}), 200)
        self.assertIn("\\sqrt", f["latex"])
        f = self.check(self.s.post("/api/formula", {"formula": "log(x - 20)", "table": t}), 200)
        self.assertIn(None, f["predicted"])  # not a number: null, not NaN

    def test_explain(self):
        t = self.s.table()["table"]
        x = self.check(self.s.post("/api/explain", {"table": t, "formula": "2*x"}), 200)
        self.assertEqual([n["arity"] for n in x["tree"]], [2, 0, 0])
        self.assertTrue(all(0 <= n["share"] <= 1 for n in x["tree"]))
        self.assertGreater(max(e["refitted_errors"]["r2_val"] for e in x["edits"] if e["refitted_errors"]["r2_val"] is not None), .999)

    def test_explain_in_steps(self):
        """The tree at once, the edits of a part before others, and in the end what the command says."""
        rows = "a,b,y\n" + "".join(f"{i % 7 + 1},{i % 11 - 5},{2 * (i % 7 + 1) ** 1.5 - (i % 11 - 5)}\n" for i in range(80))
        t = self.s.table(rows)["table"]
        ask = lambda **how: self.check(self.s.post("/api/explain", {"table": t, "formula": "2*sqrt(a) - sin(b)", **how}), 200)
        x = ask(seconds=0)
        self.assertEqual((x["tried"], x["edits"], x["evidence"], x["done"]), (0, [], None, False))
        self.assertEqual(max(n["share"] for n in x["tree"]), 1)
        node = len(x["tree"]) - 1
        x = ask(seconds=1e-9, node=node)
        self.assertTrue(x["edits"] and all(e["node"] == node for e in x["edits"]), x["edits"])
        self.assertLess(x["tried"], x["wanted"])
        seen = {e["edit"] for e in x["edits"]}
        self.assertEqual({e["edit"] for e in ask(seconds=0)["edits"]}, seen)  # another client
        for _ in range(x["wanted"]):
            if (x := ask(seconds=.2))["done"]:
                break
            self.assertFalse(seen & {e["edit"] for e in x["edits"]})
            seen |= {e["edit"] for e in x["edits"]}
        self.assertTrue(x["done"])
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as f:
            f.write(rows)
            f.flush()
            r = subprocess.run([SNIP, "explain", f.name, "2*sqrt(a) - sin(b)", "--model", MODEL, "--json", "--top", "0"], capture_output=True, text=True)
        for key, value in json.loads(r.stdout).items():
            self.assertEqual(x[key], value, key)
        self.assertEqual({e["edit"] for e in x["edits"]}, seen)
        self.assertEqual(ask()["edits"], x["edits"])
        long = "+".join(f"sin({k}*a)" for k in range(1, 40))
        self.check(self.s.post("/api/explain", {"table": t, "formula": long, "seconds": 0}), 422, "at most 100")
        for how in [{"seconds": "x"}, {"seconds": 0, "node": -1}, {"seconds": 0, "node": 10 ** 18}, {"seconds": 0, "node": {}}, {"seconds": 0, "try": -3}]:
            ask(**how)

    def test_explain_takes_two_workers_at_most(self):
        """A third formula as a whole has to wait; a step, and everything else, is answered meanwhile."""
        rows = "a,b,y\n" + "".join(f"{1 + i % 17 / 5},{i % 23 / 4 - 3},{math.sin(i * .7)}\n" for i in range(120))
        long = "2.5*a*sqrt(a + .1)*exp(-.3*b) + 1.2*cos(b*a + .1)/(1 + .2*a^2) + .3*sin(b) + log(a)*.1"
        tables = [self.s.table(rows + "1,1,%d\n" % k)["table"] for k in range(3)]
        answers = [None, None]
        def whole(k):  # the third one below may come before it
            while answers[k] in (None, 429):
                answers[k] = self.s.post("/api/explain", {"table": tables[k], "formula": long, "try": 40}, timeout=240)[0]
        threads = [threading.Thread(target=whole, args=(k,)) for k in range(2)]
        for thread in threads:
            thread.start()
        refused = False
        while not refused and any(t.is_alive() for t in threads):  # both have to arrive first
            refused = self.s.post("/api/explain", {"table": tables[2], "formula": "2*a", "try": 1})[0] == 429
        self.assertTrue(refused)
        self.check(self.s.post("/api/explain", {"table": tables[0], "formula": long, "try": 40, "seconds": .01}), 200)
        self.check(self.s.post("/api/rank", {"table": tables[2], "formula": "2*a"}), 200)
        for thread in threads:
            thread.join()
        self.assertEqual(answers, [200, 200])
        self.check(self.s.post("/api/explain", {"table": tables[2], "formula": "2*a", "try": 1}), 200)

    def test_status(self):
        """What a browser would log as an error can be had as an answer."""
        t = self.s.table()["table"]
        for path, body, status in [("/api/formula", {"formula": "x +"}, 422), ("/api/rank", {"table": t, "formula": "("}, 422),
                                   ("/api/rank", {"table": "x"}, 404), ("/api/nothing", {}, 404), ("/api/info", {}, 405)]:
            self.check(self.s.post(path, body), status)
            answer = self.check(self.s.post(path + "?status=200", body), 200)
            self.assertEqual(answer["status"], status)
            self.assertGreater(len(answer["error"]), 5)
        self.check(self.s.post("/api/rank?status=200", "{"), 400)
        self.check(self.s.post("/api/rank?status=201", {"table": "x"}), 404)
        self.check(self.s.get("/api/info?status=200", headers={"Host": "evil.example"}), 403)

    def test_take(self):
        t = self.s.table()["table"]
        c = self.check(self.s.post("/api/take", {"table": t, "formula": "1.5 + 0.3*x0"}), 200)
        self.assertGreater(c["r2_val"], 1 - 1e-9)
        self.assertIn("x", c["equation"])
        self.check(self.s.post("/api/take", {"table": t, "formula": "x0 + x1"}), 422, "that law has 2 inputs, the table 1")
        self.check(self.s.post("/api/take", {"table": t, "formula": "x0 +"}), 422)

    def test_library(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "lib.db")
            subprocess.run([SNIP, "index", "build", "-o", path, "--count", "60", "--model", MODEL], check=True, capture_output=True)
            s = Server("--library", path)
            try:
                self.assertEqual(self.check(s.get("/api/info"), 200)["library"], 60)
                t = s.table()["table"]
                found = self.check(s.post("/api/find", {"table": t, "count": 5}), 200)["candidates"]
                self.assertEqual(len(found), 5)
                self.assertTrue(all(1 <= c["place"] <= 60 for c in found))
                m = self.check(s.post("/api/map", {"table": t}), 200)
                self.assertEqual(len(m["points"]), 60)
                near = [n["similarity"] for n in m["nearest"]]
                self.assertEqual(near, sorted(near, reverse=True))
                known = {p["formula"] for p in m["points"]}
                self.assertTrue(near and all(n["formula"] in known for n in m["nearest"]))
                c = self.check(s.post("/api/take", {"table": t, "formula": m["nearest"][0]["formula"]}), 200)
                self.assertIsNotNone(c["r2_val"])
                fit = self.check(s.post("/api/fit", {"table": t, "seconds": 2}), 200)["fit"]
                self.assertNotIn("error", ended(s, fit))
            finally:
                self.assertEqual(s.stop()[1], 0)
            with open(os.path.join(folder, "no.db"), "w") as f:
                f.write("not a library")
            for wrong in [os.path.join(folder, "nothing.db"), os.path.join(folder, "no.db"), folder]:
                r = subprocess.run([SNIP, "serve", "--port", "0", "--model", MODEL, "--library", wrong], capture_output=True, text=True, timeout=60)
                self.assertEqual((r.returncode != 0, r.stderr.count("\n"), r.stdout), (True, 1, ""), r.stderr)

    def test_open(self):
        """--open asks the desktop to show the address."""
        with tempfile.TemporaryDirectory() as folder:
            told = os.path.join(folder, "told")
            program = os.path.join(folder, "xdg-open")
            with open(program, "w") as f:
                f.write(f'#!/bin/sh\nprintf %s "$1" >"{told}.new" && mv "{told}.new" "{told}"\n')
            os.chmod(program, 0o755)
            s = Server("--open", env={**os.environ, "PATH": folder + ":" + os.environ["PATH"]})
            until = time.monotonic() + 20
            while not os.path.exists(told) and time.monotonic() < until:
                time.sleep(.05)
            self.assertEqual(s.stop()[1], 0)
            with open(told) as f:
                self.assertEqual(f.read(), f"http://127.0.0.1:{s.port}/")

    def test_find_embed_map(self):
        t = self.s.table()["table"]
        self.assertGreater(len(self.check(self.s.post("/api/find", {"table": t, "count": 3}), 200)["candidates"]), 0)
        v = self.check(self.s.post("/api/embed", {"formulas": ["x0", "sin(x0)*x1"]}), 200)["vectors"]
        self.assertEqual(len(v), 2)
        w = self.check(self.s.post("/api/embed", {"table": t}), 200)["vectors"]
        self.assertEqual(len(w[0]), len(v[0]))
        m = self.check(self.s.post("/api/map", {"table": t, "formulas": ["2*x"]}), 200)
        self.assertGreater(len(m["points"]), 1000)
        self.assertEqual(len(m["candidates"]), 1)
        near = [n["similarity"] for n in m["nearest"]]
        self.assertEqual(near, sorted(near, reverse=True))
        self.assertTrue(all(a - b > 1e-7 for a, b in zip(near, near[1:])), near)

    # ---- searches ----

    def test_fit(self):
        t = self.check(self.s.post("/api/table", {"example": "kepler.csv"}), 200)["table"]
        fit = self.check(self.s.post("/api/fit", {"table": t, "seconds": 8}), 200)["fit"]
        s = stream(self.s, fit)
        text = s.makefile("rb").read()
        s.close()
        self.assertTrue(text.startswith(b"HTTP/1.1 200"))
        self.assertIn(b"text/event-stream", text)
        states = [json.loads(line[6:]) for line in re.findall(rb"data: .*", text)]
        self.assertTrue(states[-1]["done"])
        self.assertFalse(any(x["done"] for x in states[:-1]))
        self.assertEqual(states, sorted(states, key=lambda x: x["seconds"]))
        self.assertTrue(all(0 <= x["spent"] <= 1 for x in states[:-1]))
        state = ended(self.s, fit)
        best = state["front"][state["selected"]]
        self.assertGreater(best["r2_val"], .9999)
        self.assertIn("axis", best["equation"])
        self.check(self.s.post(f"/api/fit/{fit}/stop", {}), 200)  # twice does no harm
        for path in ["/api/fit/" + "0" * 32, f"/api/fit/{'0' * 32}/events"]:
            self.check(self.s.get(path), 404, "no such search")
        self.check(self.s.post(f"/api/fit/{'0' * 32}/stop", {}), 404)

    def test_stop_and_too_many(self):
        """Two searches at a time, streams that leave in the middle, a stop, and searches that push out old ones."""
        t = self.s.table(HARD)["table"]
        fits = [self.check(self.s.post("/api/fit", {"table": t, "seconds": 600, "seed": k}), 200)["fit"] for k in range(2)]
        self.check(self.s.post("/api/fit", {"table": t}), 429, "running")
        before = self.s.descriptors()
        leavers = [stream(self.s, fits[k % 2]) for k in range(20)]
        self.assertTrue(leavers[0].recv(100).startswith(b"HTTP/1.1 200"))
        for k, s in enumerate(leavers):
            if k % 2:  # a reset, the other half a plain end
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            s.close()
        for _ in range(18):  # the table is pushed out while it is searched
            self.s.table()
        self.check(self.s.get("/api/table/" + t), 404)
        self.assertFalse(self.check(self.s.get("/api/fit/" + fits[0]), 200)["done"])
        begin = time.monotonic()
        for fit in fits:
            self.check(self.s.post(f"/api/fit/{fit}/stop", {}), 200)
        for fit in fits:
            ended(self.s, fit)
        self.assertLess(time.monotonic() - begin, 5)
        until = time.monotonic() + 10
        while self.s.descriptors() > before and time.monotonic() < until:
            time.sleep(.1)
        self.assertLessEqual(self.s.descriptors(), before)
        t = self.s.table()["table"]
        late = None
        for k in range(18):
            until = time.monotonic() + 20
            status = 429
            while status == 429 and time.monotonic() < until:
                status, answer = self.s.post("/api/fit", {"table": t, "seconds": .05})
                time.sleep(.02 if status == 429 else 0)
            self.assertEqual(status, 200, answer)
            if k == 0:  # it is asked for whenever another search pushes one out
                late = stream(self.s, answer["fit"])
            else:
                self.s.get(f"/api/fit/{answer['fit']}/events")
        self.check(self.s.get("/api/fit/" + fits[0]), 404)
        self.assertIn(b'"done":true', late.makefile("rb").read())
        late.close()

    def test_two_clients(self):
        wrong = []

        def client(k):
            try:
                t = self.s.table("x,y\n" + "".join(f"{i},{k * i + 1}\n" for i in range(1, 30)))["table"]
                for _ in range(15):
                    status, r = self.s.post("/api/rank", {"table": t, "formulas": [f"{k}*x + 1"], "refit": False})
                    if status != 200 or not r["candidates"][0]["r2_val"] > 1 - 1e-12:
                        wrong.append((status, r))
            except Exception as e:  # into the test's own thread
                wrong.append(e)

        threads = [threading.Thread(target=client, args=(k,)) for k in range(2, 8)]
        for x in threads:
            x.start()
        for x in threads:
            x.join()
        self.assertEqual(wrong, [])

    def test_silent_connections(self):
        silent = [socket.create_connection(("127.0.0.1", self.s.port)) for _ in range(200)]
        for k, s in enumerate(silent):
            if k % 2:
                s.sendall(b"POST /api/rank HTTP/1.1\r\nHost: x\r\nContent-Le")
        took = []
        for _ in range(20):
            begin = time.monotonic()
            self.check(self.s.get("/api/info"), 200)
            took.append(time.monotonic() - begin)
        self.assertLess(sorted(took)[10], .5)
        for s in silent:
            s.close()

    def test_client_that_goes_away(self):
        """A request whose client does not wait for the answer."""
        t = self.s.table()["table"]
        body = json.dumps({"table": t, "formulas": ["x + sin(x)"] * 100}).encode()
        head = f"POST /api/rank HTTP/1.1\r\nHost: 127.0.0.1:{self.s.port}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        for _ in range(30):
            s = socket.create_connection(("127.0.0.1", self.s.port))
            s.sendall(head.encode() + body)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            s.close()
        self.check(self.s.get("/api/info"), 200)

    # ---- the end ----

    def test_interrupt(self):
        """Ctrl-C while two searches run, with streams, silent connections and requests under way."""
        s = Server()
        t = s.table(HARD)["table"]
        fits = [self.check(s.post("/api/fit", {"table": t, "seconds": 600}), 200)["fit"] for _ in range(2)]
        open_ones = [stream(s, fits[k % 2]) for k in range(6)] + [socket.create_connection(("127.0.0.1", s.port)) for _ in range(20)]
        over = []

        def hurry():
            while not over:
                try:
                    s.post("/api/formula", {"formula": "x0"})
                except (OSError, http.client.HTTPException):
                    pass
        threads = [threading.Thread(target=hurry) for _ in range(2)]
        for x in threads:
            x.start()
        time.sleep(1)
        seconds, code, messages = s.stop()
        over.append(1)
        for x in threads:
            x.join()
        for x in open_ones:
            x.close()
        self.assertEqual((code, messages.count("\n")), (0, 1), messages)
        self.assertLess(seconds, float(os.environ.get("SNIP_SERVE_STOP", "1")) + os.getloadavg()[0] / 10)

    def test_interrupt_at_work(self):
        """Ctrl-C while a request computes for minutes."""
        s = Server()
        t = s.table("x,y\n" + "".join(f"{i % 997 / 7},{i * 7919 % 1013}\n" for i in range(100000)))["table"]
        body = json.dumps({"table": t, "formulas": [f"{k + 1}.5*sin({k + 2}.5*x + 0.3)*exp(-0.1*x) + 2.5" for k in range(1000)]}).encode()
        c = socket.create_connection(("127.0.0.1", s.port))
        c.sendall(f"POST /api/rank HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        time.sleep(.5)
        seconds, code, messages = s.stop()
        c.close()
        self.assertEqual((code, messages.count("\n")), (0, 1), messages)
        self.assertLess(seconds, float(os.environ.get("SNIP_SERVE_STOP", "1")) + os.getloadavg()[0] / 10)

    def test_zz_slow(self):
        self.drip.join()
        self.assertEqual(sorted(self.borne), ["body", "head"])
        self.assertTrue(all(t > 15 for t in self.borne.values()), self.borne)

    def test_zz_memory(self):
        """No growth over many requests of all kinds; the first ones fill caches."""
        t = self.s.table()["table"]
        kinds = [("GET", "/api/info", None), ("GET", "/", None), ("GET", "/nothing", None), ("POST", "/api/formula", {"table": t, "formula": "x^2 + 1"}),
                 ("POST", "/api/formula", {"formula": "x^"}), ("GET", "/api/table/" + t, None), ("POST", "/api/rank", {"table": t, "formula": "2*x", "refit": False}),
                 ("POST", "/api/rank", {}), ("POST", "/api/table", {"table": t, "target": "x"})]
        c = http.client.HTTPConnection("127.0.0.1", self.s.port, timeout=60)
        before = 0
        for k in range(MANY):
            if k == MANY // 2:
                before = self.s.memory()
            method, path, body = kinds[k % len(kinds)]
            c.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": JSON} if body is not None else {})
            r = c.getresponse()
            r.read()
            self.assertIn(r.status, (200, 404, 422))
            if k % 97 == 0:
                c.close()
        c.close()
        print(f"memory after {MANY // 2} and {MANY} requests: {before:.1f} and {self.s.memory():.1f} MB", file=sys.stderr)
        with open(SNIP, "rb") as f:
            sanitized = b"__asan_init" in f.read()  # it keeps freed memory for a while, and looks for leaks itself
        if not sanitized:
            self.assertLess(self.s.memory() - before, 4)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *os.environ.get("SNIP_SERVE_TESTS", "").split()], verbosity=2)
