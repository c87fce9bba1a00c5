"""A small client of Chromium's DevTools protocol, over the browser's own pipe: no packages, no port.

    with Browser() as b:
        page = b.page(1200, 800)
        page.go("http://127.0.0.1:8017/")
        page.wait("document.title")
        page.click("#start")
        page.picture("start.png")

Clicks and keys are those of a user: they go to what is visible at that place, or to what has the focus."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

KEYS = {"Tab": 9, "Enter": 13, " ": 32, "ArrowLeft": 37, "ArrowRight": 39}


class Browser:
    def __init__(self, program="chromium"):
        self.folder = tempfile.mkdtemp()
        (get, self.to), (self.out, put) = os.pipe(), os.pipe()

        def pipes():
            # The browser reads commands from 3 and writes answers to 4.
            a, b = os.dup(get), os.dup(put)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--user-data-dir=" + self.folder, "--no-first-run",
             "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking",
             "--disable-component-update", "--hide-scrollbars", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=pipes)
        os.close(get)
        os.close(put)
        self.number, self.buffer, self.answers, self.pages = 0, b"", {}, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close", timeout=10)
            self.process.wait(10)
        except Exception:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def pump(self, seconds):
        """Reads what the browser says for at most so long."""
        if not select.select([self.out], [], [], seconds)[0]:
            return
        got = os.read(self.out, 1 << 20)
        if not got:
            raise RuntimeError("the browser is gone")
        *messages, self.buffer = (self.buffer + got).split(b"\0")
        for m in map(json.loads, messages):
            if "id" in m:
                self.answers[m["id"]] = m
            elif m.get("sessionId") in self.pages:
                self.pages[m["sessionId"]].hear(m["method"], m["params"])

    def call(self, method, session=None, timeout=60, **params):
        self.number += 1
        number = self.number
        m = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self.to, json.dumps(m).encode() + b"\0")
        until = time.monotonic() + timeout
        while number not in self.answers:
            if time.monotonic() > until:
                raise TimeoutError(method)
            self.pump(.5)
        m = self.answers.pop(number)
        if "error" in m:
            raise RuntimeError(f"{method}: {m['error']['message']}")
        return m["result"]

    def page(self, width, height, dark=False):
        return Page(self, width, height, dark)


class Page:
    def __init__(self, browser, width, height, dark):
        self.browser, self.complaints, self.loads = browser, [], 0
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ["Page", "Runtime", "Log", "DOM", "Network"]:
            self.call(domain + ".enable")
        self.look(width, height, dark)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def look(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                                                                 {"name": "prefers-reduced-motion", "value": "reduce"}])

    def hear(self, method, p):
        """Exceptions, console errors and what the browser itself complains of, the content security policy included."""
        if method == "Runtime.exceptionThrown":
            self.complaints.append(p["exceptionDetails"].get("exception", {}).get("description") or p["exceptionDetails"]["text"])
        elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in p["args"]))
        elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            self.complaints.append(p["entry"]["text"] + " " + p["entry"].get("url", ""))
        elif method == "Page.loadEventFired":
            self.loads += 1

    def go(self, url=None):
        """Opens an address; without one, loads the page again."""
        before = self.loads
        self.call("Page.navigate", url=url) if url else self.call("Page.reload")
        while self.loads == before:
            self.browser.pump(1)

    def run(self, script):
        r = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in r:
            raise RuntimeError(f"{script}: {r['exceptionDetails'].get('exception', {}).get('description')}")
        return r["result"].get("value")

    def wait(self, script, seconds=30):
        """What an expression gives as soon as it is true."""
        until = time.monotonic() + seconds
        while not (value := self.run(script)):
            if time.monotonic() > until:
                raise TimeoutError(f"never true: {script}; complaints: {self.complaints}; says: {self.text('#message')}")
            self.browser.pump(.05)
        return value

    def text(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)})?.textContent")

    def visible(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)})?.checkVisibility() ?? false")

    def click(self, selector, index=0):
        at = self.run(f"""(() => {{ const e = document.querySelectorAll({json.dumps(selector)})[{index}]; if (!e) return null;
            e.scrollIntoView({{ block: "center" }}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()""")
        if not at:
            raise AssertionError(f"there is no {selector} {index}")
        for kind in ["mousePressed", "mouseReleased"]:
            self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", clickCount=1)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def key(self, key, shift=False):
        how = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": KEYS[key], "modifiers": 8 if shift else 0}
        text = {"Enter": "\r", " ": " "}.get(key)
        self.call("Input.dispatchKeyEvent", type="keyDown", **how, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **how)

    def choose_file(self, selector, path):
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[path])

    def picture(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))
