package x11

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// basePort is the TCP port of display 0.
const basePort = 6000

// A Display is a place where an X server listens.
type Display struct {
	Host   string // "" and "unix": this host, by a socket
	Number int    // from 0 on
	Screen int
}

// ParseDisplay reads the value of DISPLAY: [HOST]:NUMBER[.SCREEN].
func ParseDisplay(text string) (Display, error) {
	at := strings.LastIndex(text, ":")
	number, screen, hasScreen := strings.Cut(text[at+1:], ".")
	d := Display{Host: strings.Trim(text[:max(at, 0)], "[]")}
	var err error
	if d.Number, err = strconv.Atoi(number); err == nil && hasScreen {
		d.Screen, err = strconv.Atoi(screen)
	}
	if at < 0 || err != nil || d.Number < 0 || d.Number > 65535-basePort || d.Screen < 0 {
		return Display{}, fmt.Errorf("DISPLAY %q is not [HOST]:NUMBER[.SCREEN]", text)
	}
	return d, nil
}

// Local reports whether the server is on this host, and listens at a socket.
func (d Display) Local() bool { return d.Host == "" || d.Host == "unix" }

// Address returns the network and the address at which the server listens.
func (d Display) Address() (network, address string) {
	if d.Local() {
		return "unix", "/tmp/.X11-unix/X" + strconv.Itoa(d.Number)
	}
	return "tcp", net.JoinHostPort(d.Host, strconv.Itoa(basePort+d.Number))
}

// String returns the value of DISPLAY.
func (d Display) String() string { return fmt.Sprintf("%s:%d.%d", d.Host, d.Number, d.Screen) }
