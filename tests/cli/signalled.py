# SPDX-License-Identifier: MIT
"""signalled.py SIGNAL LET_PASS COMMAND...

Sends a signal to a command at a known moment: the command's stderr is a pipe that is full but
for LET_PASS bytes, so it waits in the first message after them; there it gets the signal, and
then the pipe is emptied. Prints the messages (progress apart) and the exit status.
"""
import fcntl
import os
import signal
import subprocess
import sys
import time

PIPE_BYTES = 4096

reader, writer = os.pipe()
fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
os.write(writer, b"\n" * (PIPE_BYTES - int(sys.argv[2])))
child = subprocess.Popen(sys.argv[3:], stderr=writer, stdout=subprocess.DEVNULL)
os.close(writer)
deadline = time.monotonic() + 60
while time.monotonic() < deadline and child.poll() is None:
    with open("/proc/%d/wchan" % child.pid) as file:
        if "pipe" in file.read():
            break
    time.sleep(0.01)
child.send_signal(getattr(signal, sys.argv[1]))
text = b""
while True:
    piece = os.read(reader, 65536)
    if not piece:
        break
    text += piece
lines = text.decode().split("\n")
print("\n".join(line for line in lines if line and "%" not in line))
print("status", child.wait())
