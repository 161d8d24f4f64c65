"""The verb view as a person uses it, and its server as an attacker does; part of cli_test.py."""

import contextlib
import json
import re
import signal
import socket
import subprocess

MARKER = '<script type="application/octet-stream" id="springtime-data">'


class Viewing:
    @contextlib.contextmanager
    def server(self, *arguments, end=signal.SIGTERM):
        """The port of a running server, which has to end in order."""
        process = subprocess.Popen([self.program(), "view", *arguments], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            line = process.stdout.readline()
            yield int(re.search(r"http://127\.0\.0\.1:(\d+)/", line).group(1))
        finally:
            process.send_signal(end)
            _, errors = process.communicate(timeout=600)
        self.assertEqual((process.returncode, errors), (0, ""))

    @staticmethod
    def answer(port, request):
        """All that comes back for these bytes."""
        with socket.create_connection(("127.0.0.1", port), timeout=600) as one:
            one.sendall(request)
            answer = b""
            with contextlib.suppress(ConnectionResetError):
                while block := one.recv(65536):
                    answer += block
        return answer

    def status(self, port, line, host=None, more=b""):
        host = host or f"127.0.0.1:{port}"
        request = line.encode() + b"\r\nHost: " + host.encode() + b"\r\n" + more + b"\r\n"
        return self.answer(port, request).split(b"\r\n")[0].decode()

    def test_view_writes_one_page(self):
        self.generate("m.h5", "--rollouts", "1")
        found = json.loads(self.run_it("view", "m.cloth.json", "--out", "live.html", "--json").stdout)
        page = (self.folder / "live.html").read_text()
        self.assertEqual((found["out"], found["bytes"]), ("live.html", len(page.encode())))
        self.assertEqual(page.count(MARKER), 1)
        for address in ('src="http', 'href="http', '@import'):
            self.assertNotIn(address, page)
        (self.folder / "run").mkdir()
        (self.folder / "run/cloth.json").write_bytes((self.folder / "m.cloth.json").read_bytes())
        self.run_it("view", "run", "--compare", "m.cloth.json", "--pin", "edge-north", "--wind", "1", "0", "0",
                    "--out", "two.html")
        self.assertGreater((self.folder / "two.html").stat().st_size, len(page))

    def test_view_errors(self):
        self.generate("m.h5", "--rollouts", "1")
        (self.folder / "empty").mkdir()
        (self.folder / "bad.json").write_text("{")
        for arguments, message in (
            (["none.json"], "none.json: no such file"),
            (["empty"], "empty: a folder without cloth.json"),
            (["bad.json", "--out", "a.html"], "bad.json: is not JSON"),
            (["m.cloth.json", "--compare", "bad.json", "--out", "a.html"], "bad.json: is not JSON"),
            (["m.cloth.json", "--pin", "middle", "--out", "a.html"], "middle"),
            (["m.cloth.json", "--drag", "-1", "--out", "a.html"], "drag"),
            (["m.cloth.json", "--port", "99999"], "--port"),
            (["m.cloth.json", "--port", "8000", "--out", "a.html"], "--port: belongs to the server"),
            (["m.cloth.json", "--out", "m.cloth.json", "--overwrite"], "is read as well"),
            (["m.cloth.json", "--out", "none/a.html"], "there is no directory none"),
        ):
            self.assertIn(message, self.run_it("view", *arguments, code=2).stderr)
        self.assertFalse((self.folder / "a.html").exists())
        self.run_it("view", "m.cloth.json", "--out", "a.html")
        self.assertIn("exists already", self.run_it("view", "m.cloth.json", "--out", "a.html", code=2).stderr)

    def test_view_ends_in_order(self):
        self.generate("m.h5", "--rollouts", "1")
        for end in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.server("m.cloth.json", end=end) as port:
                self.assertEqual(self.status(port, "GET / HTTP/1.1"), "HTTP/1.1 200 OK")

    def test_view_serves_one_page_and_nothing_else(self):
        self.generate("m.h5", "--rollouts", "1")
        with self.server("m.cloth.json") as port:
            head, page = self.answer(port, f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode()).split(
                b"\r\n\r\n", 1)
            self.assertIn(b"default-src 'none'", head)
            self.assertIn(f"Content-Length: {len(page)}".encode(), head)
            self.assertIn(MARKER.encode(), page)
            self.assertEqual(self.status(port, "HEAD / HTTP/1.1"), "HTTP/1.1 200 OK")
            for line, status in (
                ("GET /../m.cloth.json HTTP/1.1", 404),
                ("GET /m.cloth.json HTTP/1.1", 404),
                ("GET //etc/passwd HTTP/1.1", 404),
                ("GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1", 404),
                ("GET http://example.org/ HTTP/1.1", 404),
                ("POST / HTTP/1.1", 405),
                ("DELETE / HTTP/1.1", 405),
                ("GET", 400),
                ("GET /", 400),
                ("\x00\x01 / FTP/9", 400),
            ):
                self.assertTrue(self.status(port, line).startswith(f"HTTP/1.1 {status}"), line)
            # A stranger's page that leads its own name here must not read the cloth.
            for host in ("example.org", f"example.org:{port}", "127.0.0.1", ""):
                request = f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
                self.assertIn(b" 403 ", self.answer(port, request).split(b"\r\n")[0], host)
            twice = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nHost: example.org\r\n\r\n".encode()
            self.assertIn(b" 403 ", self.answer(port, twice).split(b"\r\n")[0])
            self.assertIn("431", self.status(port, "GET / HTTP/1.1", more=b"X: " + 20000 * b"x" + b"\r\n"))
            self.assertEqual(self.status(port, "GET / HTTP/1.1"), "HTTP/1.1 200 OK")

    def test_view_listens_on_this_machine_alone(self):
        self.generate("m.h5", "--rollouts", "1")
        with self.server("m.cloth.json") as port:
            with open("/proc/net/tcp") as table:
                listening = [row.split()[1] for row in table if row.split()[3] == "0A"]
            with open("/proc/net/tcp6") as table:
                listening += [row.split()[1] for row in table if row.split()[3] == "0A"]
            self.assertEqual([at for at in listening if at.endswith(f":{port:04X}")],
                             [f"0100007F:{port:04X}"])
            other = self.run_it("view", "m.cloth.json", "--port", str(port), code=1)
            self.assertIn(f"port {port}: cannot be used", other.stderr)

    def test_view_a_slow_browser_keeps_nobody_waiting(self):
        self.generate("m.h5", "--rollouts", "1")
        with self.server("m.cloth.json") as port, contextlib.ExitStack() as all_of_them:
            address = ("127.0.0.1", port)
            for kind in range(12):
                slow = all_of_them.enter_context(socket.create_connection(address))
                slow.sendall(b"" if kind % 3 == 0 else b"GET / HTTP/1.1\r\nHo" if kind % 3 == 1 else
                             f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
            for _ in range(3):  # the slow ones neither go on asking nor read what they asked for
                self.assertEqual(self.status(port, "GET / HTTP/1.1"), "HTTP/1.1 200 OK")
