"""Two network interfaces joined by a long way: what goes into the one comes out of the other, later or never.

For kernels without netem. Both ends are made in the namespace in which this runs, and may be moved to others. Prints
"ready" when they are there, and ends, with both, when its input does.
"""

import argparse
import errno
import fcntl
import heapq
import os
import select
import struct
import time

# Linux, include/uapi/linux/if_tun.h.
TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000

PACKET_BYTES = 65536


def interface(name):
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    return descriptor


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--delay-ms", type=float, required=True, help="each way")
    options.add_argument("--drop-every", type=int, default=0, metavar="N", help="lose each N-th packet of either way; 0: none")
    options.add_argument("name", nargs=2)
    asked = options.parse_args()
    one, other = (interface(name) for name in asked.name)
    print("ready", flush=True)

    under_way = []  # (when it arrives, number, where, packet): the number keeps the order of equals
    number = 0
    sent = {one: 0, other: 0}
    while True:
        wait = None if not under_way else max(0, under_way[0][0] - time.monotonic())
        readable, _, _ = select.select([0, one, other], [], [], wait)
        if 0 in readable and not os.read(0, 4096):
            return
        for end, far_end in ((one, other), (other, one)):
            while end in readable:
                try:
                    packet = os.read(end, PACKET_BYTES)
                except BlockingIOError:
                    break
                sent[end] += 1
                if asked.drop_every and sent[end] % asked.drop_every == 0:
                    continue
                number += 1
                heapq.heappush(under_way, (time.monotonic() + asked.delay_ms / 1000, number, far_end, packet))
        while under_way and under_way[0][0] <= time.monotonic():
            _, _, end, packet = heapq.heappop(under_way)
            try:
                os.write(end, packet)
            except OSError as failure:
                # An end that is not up takes nothing, as a cable that is not plugged in.
                if failure.errno != errno.EIO:
                    raise


main()
