package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"rampart/cli"
)

// console returns the terminal of standard input and output; false: they are something else.
func console() (cli.Console, bool) {
	return tty{}, isTerminal(os.Stdin) && isTerminal(os.Stdout)
}

type tty struct{}

// Raw implements cli.Console.
func (tty) Raw() (restore func(), err error) {
	fd := int(os.Stdin.Fd())
	old, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil, err
	}
	raw := *old
	raw.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	raw.Oflag &^= unix.OPOST
	raw.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	raw.Cflag = raw.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, unix.TCSETSW, &raw); err != nil {
		return nil, err
	}
	return func() { _ = unix.IoctlSetTermios(fd, unix.TCSETSW, old) }, nil // a terminal that is gone needs nothing
}

// Size implements cli.Console.
func (tty) Size() (rows, columns uint16) {
	w, err := unix.IoctlGetWinsize(int(os.Stdin.Fd()), unix.TIOCGWINSZ)
	if err != nil || w.Row == 0 || w.Col == 0 {
		return 24, 80
	}
	return w.Row, w.Col
}

// Resized implements cli.Console.
func (tty) Resized() <-chan os.Signal { return notified(syscall.SIGWINCH) }

// Signals implements cli.Console.
func (tty) Signals() <-chan os.Signal {
	return notified(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// Suspend implements cli.Console.
func (tty) Suspend() { _ = unix.Kill(0, unix.SIGTSTP) }

// notified tells of signals, but for those that whoever started the command has it ignore, as nohup does.
func notified(list ...os.Signal) <-chan os.Signal {
	c := make(chan os.Signal, 8)
	for _, sig := range list {
		if !signal.Ignored(sig) {
			signal.Notify(c, sig)
		}
	}
	return c
}
