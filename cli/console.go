package cli

import "os"

// A Console is the terminal at which a person sits, for a command that gives it to
// somebody else for a while.
type Console interface {
	// Raw hands every key on as it is, until restore is called.
	Raw() (restore func(), err error)
	// Size returns what fits on it, in characters.
	Size() (rows, columns uint16)
	// Resized gets a value when the size has changed.
	Resized() <-chan os.Signal
	// Signals gets SIGINT, SIGTERM and SIGHUP from now on; they do not end the command.
	Signals() <-chan os.Signal
	// Suspend stops the command as ^Z does, until the shell lets it go on.
	Suspend()
}
