package proc

import (
	"errors"
	"syscall"
)

// wants are the errors of a host that has none left of something: processes, memory, open files, room.
var wants = [...]error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC}

// Wanting reports whether an error is due to a host that lacks something, and not to the job.
func Wanting(err error) bool {
	for _, want := range wants {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}
