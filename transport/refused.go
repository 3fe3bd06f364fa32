package transport

import (
	"errors"
	"net"
	"syscall"
)

// refused reports whether the operating system said that nobody is there, unlike
// a network that says nothing.
func refused(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return !dns.IsTimeout
	}
	for _, no := range []syscall.Errno{syscall.ECONNREFUSED, syscall.ENOENT, syscall.EACCES, syscall.EINVAL} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}
