#!/usr/bin/python3
"""How fast snip serve answers, and what listening costs a search: serve.py SNIP SOURCE [EVALS]

A table of 1,000 rows. Times of the requests behind the page's Explain tab, for formulas of 3 to 37 nodes; then
searches of EVALS evaluations (3,000,000) in turn with and without a client that listens to their events. On a machine
that does other things, give it priority: chrt -r 5 bench/serve.py build/snip ."""
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
import threading
import time

SNIP, SOURCE = map(os.path.abspath, sys.argv[1:3])
EVALS = int(sys.argv[3]) if len(sys.argv) > 3 else 3000000
FORMULAS = ["2*a", "2*a*exp(-.3*b)+cos(b)", "2.5*a*sqrt(a)*exp(-.3*b)+1.2*cos(b*a+.1)+.3",
            "2.5*a*sqrt(a+.1)*exp(-.3*b)+1.2*cos(b*a+.1)/(1+.2*a^2)+.3*sin(b)+log(a)*.1"]
EDITS, REPEATS = 1000, 5


class Server:
    def __init__(self, *options):
        model = os.path.join(SOURCE, "models", "default.safetensors")
        self.process = subprocess.Popen([SNIP, "serve", "--port", "0", "--model", model, "--quiet", *options], stdout=subprocess.PIPE, text=True)
        self.port = int(re.search(r":(\d+)/", self.process.stdout.readline())[1])

    def ask(self, path, body=None, type="application/json"):
        """The answer and the seconds that it took. Without a body it is a GET."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        begin = time.monotonic()
        if body is None:
            c.request("GET", path)
        else:
            c.request("POST", path, body if isinstance(body, str) else json.dumps(body), {"Content-Type": type})
        r = c.getresponse()
        answer = json.loads(r.read())
        seconds = time.monotonic() - begin
        c.close()
        if r.status != 200:
            sys.exit(f"{path}: {answer['error']}")
        return answer, seconds

    def processor(self):
        with open(f"/proc/{self.process.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


def known():
    rng = random.Random(1)
    rows = [(rng.uniform(.5, 4), rng.uniform(-3, 3)) for _ in range(1000)]
    return "a,b,y\n" + "".join(f"{a},{b},{2.5 * a ** 1.5 * math.exp(-.3 * b) + 1.2 * math.cos(a * b) + rng.gauss(0, .05)}\n" for a, b in rows)


def answers():
    plain, single = Server(), Server("--threads", "1")
    table, other = (s.ask("/api/table?name=k.csv", known(), "text/csv")[0]["table"] for s in (plain, single))
    print("nodes  rank s  tree s   edits: median s  90 % s  most s  under 0.2 s")
    for f in FORMULAS:
        rank = min(plain.ask("/api/rank", {"table": table, "formula": f})[1] for _ in range(REPEATS))
        x, tree = plain.ask("/api/explain", {"table": table, "formula": f, "seconds": 0})
        single.ask("/api/explain", {"table": other, "formula": f, "seconds": 0})
        took = sorted(single.ask("/api/explain", {"table": other, "formula": f, "seconds": 1e-9})[1] for _ in range(min(EDITS, x["wanted"])))
        n = len(took)
        print(f"{len(x['tree']):5} {rank:7.3f} {tree:7.3f} {took[n // 2]:17.3f} {took[n * 9 // 10]:7.3f} {took[-1]:7.3f} {100 * sum(t < .2 for t in took) / n:9.0f} %", flush=True)
    plain.stop()
    single.stop()


def listen(port, fit, gaps):
    s = socket.create_connection(("127.0.0.1", port))
    s.sendall(f"GET /api/fit/{fit}/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
    last = None
    for line in s.makefile("rb"):
        if line.startswith(b"data:"):
            now = time.monotonic()
            gaps += [now - last] if last else []
            last = now
    s.close()


def searches():
    """The table has no law, so no search ends early."""
    s = Server()
    hard = "x,y,z\n" + "".join(f"{i % 17 + .5},{i % 13 - 3},{(i * 7919) % 101 - 50}\n" for i in range(200))
    table = s.ask("/api/table?name=h.csv", hard, "text/csv")[0]["table"]
    spent, gaps = [0, 0], []
    for k in range(-1, 2 * REPEATS):  # the first one warms up
        listens = (k // 2 + k) % 2
        begin = s.processor()
        fit = s.ask("/api/fit", {"table": table, "evals": EVALS, "seed": 1})[0]["fit"]
        thread = threading.Thread(target=listen, args=(s.port, fit, gaps if listens else []))
        if listens or k < 0:
            thread.start()
            thread.join()
        else:
            while not s.ask("/api/fit/" + fit)[0]["done"]:
                time.sleep(.5)
        if k >= 0:
            spent[listens] += s.processor() - begin
    s.stop()
    gaps.sort()
    print(f"{REPEATS} searches: {spent[0]:.1f} s of processor time alone, {spent[1]:.1f} s with a client that listens ({100 * (spent[1] / spent[0] - 1):+.1f} %)")
    print(f"between two events: median {gaps[len(gaps) // 2]:.2f} s, longest {gaps[-1]:.2f} s of {len(gaps)}")


answers()
searches()
