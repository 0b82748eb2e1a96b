# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium driven through its DevTools pipe: two file descriptors and JSON, no driver
program between."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


def find():
    """Chromium's program, or None where it is not installed."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    return None


class Browser:
    def __init__(self, seconds=120):
        self.end = time.monotonic() + seconds
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.to = os.pipe()
        self.back, from_write = os.pipe()
        # Chromium reads commands from descriptor 3 and writes answers to 4; a shell redirects them.
        self.process = subprocess.Popen([
            "sh", "-c", f'exec 3<&{to_read} 4>&{from_write}; exec "$@"', "sh",
            find(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}",
            "about:blank"
        ], pass_fds=(to_read, from_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.pending, self.number, self.events, self.session = b"", 0, [], None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session = None
        try:  # its children, which write into the profile, end with it
            self.send("Browser.close")
            self.process.wait(10)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        self.profile.cleanup()

    def receive(self):
        while b"\0" not in self.pending:
            if time.monotonic() > self.end:
                raise TimeoutError("Chromium does not answer")
            part = os.read(self.back, 1 << 16)
            if not part:
                raise ConnectionError("Chromium has ended")
            self.pending += part
        text, _, self.pending = self.pending.partition(b"\0")
        return json.loads(text)

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path):
        self.events.clear()
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())

    def evaluate(self, expression):
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def click(self, selector):
        """Where the middle of the element is on the screen, as a hand would."""
        x, y = self.evaluate(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            element.scrollIntoView({{block: "center", behavior: "instant"}});
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                      button="none" if kind == "mouseMoved" else "left", clickCount=1)

    def problems(self):
        """What was logged as an error, thrown, or asked for from elsewhere since the page was
        opened."""
        self.evaluate("0")  # pending events are delivered before this
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"]["text"])
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error",
                                                                                 "warning"):
                found.append(str(parameters["args"]))
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error",
                                                                                 "warning"):
                found.append(parameters["entry"]["text"])
            elif method == "Network.requestWillBeSent":
                url = parameters["request"]["url"]
                if not url.startswith(("file:", "data:", "about:")):
                    found.append("asks for " + url)
        return found

    def media(self, kind="screen", scheme="light"):
        self.send("Emulation.setEmulatedMedia", media=kind,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path, selector=None, width=1060, height=None):
        """A PNG of the whole page or of an element, or of so many pixels of it from above, for
        people to look at."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=900,
                  deviceScaleFactor=1, mobile=False)
        box = self.evaluate(f"""(() => {{
            const box = document.querySelector({json.dumps(selector or "html")}).getBoundingClientRect();
            return [box.x + scrollX, box.y + scrollY, box.width, box.height];
        }})()""")
        box[3] = min(box[3], height or box[3])
        clip = dict(zip(("x", "y", "width", "height"), box), scale=1)
        shot = self.send("Page.captureScreenshot", format="png", clip=clip,
                         captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
