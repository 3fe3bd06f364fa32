package x11

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"testing"
)

func TestParseDisplay(t *testing.T) {
	for _, c := range []struct{ text, network, address, again string }{
		{":0", "unix", "/tmp/.X11-unix/X0", ":0.0"},
		{"unix:12.1", "unix", "/tmp/.X11-unix/X12", "unix:12.1"},
		{"localhost:10.0", "tcp", "localhost:6010", "localhost:10.0"},
		{"[::1]:3", "tcp", "[::1]:6003", "::1:3.0"},
		{"screen.example.org:0.2", "tcp", "screen.example.org:6000", "screen.example.org:0.2"},
	} {
		d, err := ParseDisplay(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if network, address := d.Address(); network != c.network || address != c.address || d.String() != c.again {
			t.Errorf("%s: %s at %s, printed %s", c.text, network, address, d)
		}
	}
	for _, text := range []string{"", "host", ":", ":x", ":-1", ":0.x", ":0.-1", ":99999", ":0.1.2"} {
		if d, err := ParseDisplay(text); err == nil {
			t.Errorf("%q is read as %v", text, d)
		}
	}
}

func TestParseGrant(t *testing.T) {
	g := Grant{Key: []byte{1, 0xab}, Screen: 2}
	if again, err := ParseGrant(g.String()); err != nil || !bytes.Equal(again.Key, g.Key) || again.Screen != 2 {
		t.Errorf("%s is read as %v, %v", g, again, err)
	}
	for _, text := range []string{"", "XDM-AUTHORIZATION-1:00:0", Cookie + ":xy:0", Cookie + ":00", Cookie + ":00:-1", Cookie + ":00:0:0"} {
		if g, err := ParseGrant(text); err == nil {
			t.Errorf("%q is read as %v", text, g)
		}
	}
}

func TestKeyFor(t *testing.T) {
	put := func(family uint16, parts ...string) []byte {
		b := binary.BigEndian.AppendUint16(nil, family)
		for _, p := range parts {
			b = append(binary.BigEndian.AppendUint16(b, uint16(len(p))), p...)
		}
		return b
	}
	file := slices.Concat(
		put(familyLocal, "other", "0", Cookie, "of another host"),
		put(familyLocal, "here", "1", Cookie, "of another display"),
		put(familyLocal, "here", "0", "XDM-AUTHORIZATION-1", "of another protocol"),
		put(familyLocal, "here", "0", Cookie, "local"),
		put(familyIPv4, "\x0a\x00\x00\x01", "0", Cookie, "four"),
		put(familyIPv6, string(net.ParseIP("fd00::1")), "0", Cookie, "six"),
		KeyFile(7, []byte("wild")),
	)
	for _, c := range []struct {
		display string
		ips     []net.IP
		key     string
	}{
		{":0", nil, "local"},
		{"here:0", nil, "local"},
		{"localhost:0", []net.IP{net.IPv4(127, 0, 0, 1)}, "local"},
		{"far:0", []net.IP{net.IPv4(10, 0, 0, 1)}, "four"},
		{"far:0", []net.IP{net.ParseIP("fd00::1")}, "six"},
		{"far:7", nil, "wild"},
		{"far:0", []net.IP{net.IPv4(10, 0, 0, 2)}, ""},
		{":2", nil, ""},
	} {
		d, err := ParseDisplay(c.display)
		if err != nil {
			t.Fatal(err)
		}
		if key, err := KeyFor(bytes.NewReader(file), d, "here", c.ips); err != nil || string(key) != c.key {
			t.Errorf("%s at %v: key %q, %v; want %q", c.display, c.ips, key, err, c.key)
		}
	}
	if _, err := KeyFor(bytes.NewReader(file[:len(file)-1]), Display{Number: 9}, "here", nil); err == nil {
		t.Error("a file that breaks off is taken for a whole one")
	}
}

// setup returns the first words of a program.
func setup(order binary.AppendByteOrder, protocol string, key []byte) []byte {
	first := byte('B')
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		first = 'l'
	}
	b := []byte{first, 0}
	for _, n := range []int{11, 0, len(protocol), len(key), 0} {
		b = order.AppendUint16(b, uint16(n))
	}
	return append(append(b, pad([]byte(protocol))...), pad(key)...)
}

func TestExchange(t *testing.T) {
	want, key := []byte("0123456789abcdef"), []byte("real key")
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		r := bytes.NewReader(append(setup(order, Cookie, want), "more"...))
		if got, err := Exchange(r, want, key); err != nil || !bytes.Equal(got, setup(order, Cookie, key)) || r.Len() != 4 {
			t.Errorf("%s: %q, %v, and %d bytes are left", order, got, err, r.Len())
		}
		if got, err := Exchange(bytes.NewReader(setup(order, Cookie, want)), want, nil); err != nil || !bytes.Equal(got, setup(order, "", nil)) {
			t.Errorf("%s, to a display without keys: %q, %v", order, got, err)
		}
		for name, wrong := range map[string][]byte{
			"another key": setup(order, Cookie, []byte("0123456789abcdeF")), "no key": setup(order, "", nil),
			"another protocol": setup(order, "XDM-AUTHORIZATION-1", want), "a long name": setup(order, string(make([]byte, 60000)), want),
		} {
			if got, err := Exchange(bytes.NewReader(wrong), want, key); !errors.Is(err, ErrWrongKey) {
				t.Errorf("%s, %s: %q, %v", order, name, got, err)
			}
		}
	}
	for _, bad := range []string{"", "GET / HTTP/1.1\r\n\r\n", string(setup(binary.LittleEndian, Cookie, want)[:20])} {
		if got, err := Exchange(bytes.NewReader([]byte(bad)), want, key); err == nil {
			t.Errorf("%q is taken as %q", bad, got)
		}
	}
}

func FuzzExchange(f *testing.F) {
	want := []byte("0123456789abcdef")
	f.Add(setup(binary.LittleEndian, Cookie, want))
	f.Add([]byte("B"))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := Exchange(bytes.NewReader(data), want, []byte("real"))
		if err == nil && !bytes.Contains(data, want) {
			t.Errorf("%q became %q without the key", data, out)
		}
	})
}
