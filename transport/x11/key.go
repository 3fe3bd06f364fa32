package x11

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// Cookie is the name of the protocol that keys are used by: whoever knows it may use the display.
const Cookie = "MIT-MAGIC-COOKIE-1"

// A Grant is what a job is told of the display that its programs are shown at. It is the value of
// forward_x11_cookie: PROTOCOL:KEY:SCREEN, the key in hexadecimal digits.
type Grant struct {
	Key    []byte
	Screen int
}

// String returns the value of forward_x11_cookie.
func (g Grant) String() string {
	return Cookie + ":" + hex.EncodeToString(g.Key) + ":" + strconv.Itoa(g.Screen)
}

// ParseGrant reads the value of forward_x11_cookie.
func ParseGrant(text string) (Grant, error) {
	f := strings.Split(text, ":")
	if len(f) != 3 || f[0] != Cookie {
		return Grant{}, fmt.Errorf("%q is not %s:KEY:SCREEN", text, Cookie)
	}
	key, err := hex.DecodeString(f[1])
	if err != nil {
		return Grant{}, fmt.Errorf("key of a display: %w", err)
	}
	screen, err := strconv.Atoi(f[2])
	if err != nil || screen < 0 {
		return Grant{}, fmt.Errorf("screen %q is not a number", f[2])
	}
	return Grant{Key: key, Screen: screen}, nil
}

// The families of addresses in a file of keys.
const (
	familyIPv4  = 0
	familyIPv6  = 6
	familyLocal = 256
	familyWild  = 65535
)

// maxFile bounds a file of keys, in bytes.
const maxFile = 1 << 20

// An entry is one key of such a file: four byte strings, each behind its length, and before them the address's family.
type entry struct {
	family                     uint16
	address, number, name, key []byte
}

// KeyFile returns a file with one key, for a display of whatever address.
func KeyFile(number int, key []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, familyWild)
	for _, part := range [][]byte{nil, []byte(strconv.Itoa(number)), []byte(Cookie), key} {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(part))), part...)
	}
	return b
}

// KeyFor finds the key to a display in a file of keys; nil: it has none. host is the name of this host, addresses are
// those of the display's.
func KeyFor(file io.Reader, d Display, host string, addresses []net.IP) ([]byte, error) {
	r := io.LimitReader(file, maxFile)
	for {
		e, err := readEntry(r)
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the keys of displays: %w", err)
		}
		if string(e.name) == Cookie && (len(e.number) == 0 || string(e.number) == strconv.Itoa(d.Number)) && e.reaches(d, host, addresses) {
			return e.key, nil
		}
	}
}

// reaches reports whether an entry is of a display's address. One of the host itself counts as local, as in Xlib.
func (e entry) reaches(d Display, host string, addresses []net.IP) bool {
	local := d.Local() || d.Host == host
	for _, ip := range addresses {
		local = local || ip.IsLoopback()
		if four := ip.To4(); four != nil && e.family == familyIPv4 && bytes.Equal(four, e.address) || e.family == familyIPv6 && bytes.Equal(ip.To16(), e.address) {
			return true
		}
	}
	return e.family == familyWild || e.family == familyLocal && local && string(e.address) == host
}

func readEntry(r io.Reader) (e entry, err error) {
	if err = binary.Read(r, binary.BigEndian, &e.family); err != nil {
		return e, err
	}
	for _, part := range []*[]byte{&e.address, &e.number, &e.name, &e.key} {
		var n uint16
		if err = binary.Read(r, binary.BigEndian, &n); err == nil {
			*part = make([]byte, n)
			_, err = io.ReadFull(r, *part)
		}
		if err != nil {
			return e, io.ErrUnexpectedEOF
		}
	}
	return e, nil
}
