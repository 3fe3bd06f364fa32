package world

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fxamacker/cbor/v2"

	"rampart/cluster/gossip"
	"rampart/fsm/pbs"
	"rampart/transport"
)

// liarName is a host that has the key of gossip and says what is not so.
const liarName = "liar"

// lieEvery is how often it says so: whoever is said to be dead denies it.
const lieEvery = 200 * time.Millisecond

// lies holds the lies that a host with the key of gossip tells, one at a time.
type lies struct {
	w    *World
	told atomic.Pointer[liar] // nil: gossip is honest
}

// A liar tells all members again and again that one of them is dead, or lives.
type liar struct {
	subject string
	alive   bool
	stop    context.CancelFunc
	done    sync.WaitGroup

	mu   sync.Mutex
	gone bool // a replica's gossip has told it that the subject is gone
}

// begin begins to lie about a mom; the next Heal ends it.
func (s *lies) begin(about *mom, alive bool) {
	s.end()
	ctx, stop := context.WithCancel(s.w.life)
	l := &liar{subject: about.name, alive: alive, stop: stop}
	text, err := l.forger(s.w, about)
	if err != nil {
		s.w.book.failed(liarName, err)
		stop()
		return
	}
	l.done.Go(func() { s.tell(ctx, text) })
	s.told.Store(l)
}

// end ends the lies.
func (s *lies) end() {
	if l := s.told.Swap(nil); l != nil {
		l.stop()
		l.done.Wait()
	}
}

// tell sends a lie to everybody, each time with a greater number.
func (s *lies) tell(ctx context.Context, text func(number uint32) ([]byte, error)) {
	conn, err := s.w.net.Host(liarName).ListenPacket(ctx, net.JoinHostPort(s.w.net.Host(liarName).IP().String(), "15003"))
	if err != nil {
		s.w.book.failed(liarName, err)
		return
	}
	defer conn.Close()
	for number := uint32(1 << 20); ; number += 1 << 10 {
		packet, err := text(number)
		if err != nil {
			s.w.book.failed(liarName, err)
			return
		}
		for _, to := range s.gossips() {
			_, _ = conn.WriteTo(packet, net.UDPAddrFromAddrPort(to)) // who is down hears nothing
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(lieEvery):
		}
	}
}

// gossips returns the addresses at which members hear gossip.
func (s *lies) gossips() []netip.AddrPort {
	var all []netip.AddrPort
	for _, r := range s.w.servers {
		all = append(all, netip.MustParseAddrPort(r.config.Gossip))
	}
	for _, m := range s.w.moms {
		all = append(all, netip.MustParseAddrPort(m.config.Gossip))
	}
	return all
}

// forger returns what makes the packets of a lie, as a member with the key does.
func (l *liar) forger(w *World, about *mom) (func(uint32) ([]byte, error), error) {
	key, err := os.ReadFile(filepath.Join(w.servers[0].config.Home.ServerTLS(), gossipKey))
	if err != nil {
		return nil, err
	}
	meta, err := cbor.Marshal(gossip.Meta{
		Role: string(transport.RoleMom), BootID: "forged", Address: about.config.Address(), Version: pbs.Version,
	})
	if err != nil {
		return nil, err
	}
	at, name := netip.MustParseAddrPort(about.config.Gossip), gossip.MemberName(string(transport.RoleMom), l.subject)
	return func(number uint32) ([]byte, error) {
		if l.alive {
			return sealed(key, aliveMessage(number, name, at, meta))
		}
		return sealed(key, deadMessage(number, name))
	}, nil
}

// The messages of memberlist, which does not export them: a letter, and a map of msgpack.
const (
	aliveLetter = 4
	deadLetter  = 5
)

func deadMessage(number uint32, name string) []byte {
	b := append([]byte{deadLetter}, 0x83)
	b = packed(b, "Incarnation", number)
	b = packedText(b, "Node", name)
	return packedText(b, "From", liarName)
}

func aliveMessage(number uint32, name string, at netip.AddrPort, meta []byte) []byte {
	b := append([]byte{aliveLetter}, 0x86)
	b = packed(b, "Incarnation", number)
	b = packedText(b, "Node", name)
	b = packedText(b, "Addr", string(at.Addr().AsSlice()))
	b = packed(b, "Port", uint32(at.Port()))
	b = packedText(b, "Meta", string(meta))
	return packedText(b, "Vsn", "\x01\x05\x02\x00\x00\x00") // the versions that memberlist and we speak
}

func packed(b []byte, key string, n uint32) []byte {
	return binary.BigEndian.AppendUint32(append(word(b, key), 0xce), n)
}

func packedText(b []byte, key, text string) []byte { return word(word(b, key), text) }

// word returns a raw string of msgpack, which stands for bytes as well.
func word(b []byte, s string) []byte {
	if len(s) < 32 {
		b = append(b, 0xa0|byte(len(s)))
	} else {
		b = binary.BigEndian.AppendUint16(append(b, 0xda), uint16(len(s)))
	}
	return append(b, s...)
}

// sealed returns a message as memberlist encrypts it, in the second version.
func sealed(key, message []byte) ([]byte, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, gcm.NonceSize())
	_, _ = rand.Read(nonce) // never fails (crypto/rand)
	return gcm.Seal(append([]byte{1}, nonce...), nonce, message, nil), nil
}

// ear is a replica's log, in which it writes what gossip tells it.
type ear struct {
	slog.Handler
	w *World
}

// Handle implements slog.Handler.
func (e ear) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "gossip" {
		said := make(map[string]string)
		r.Attrs(func(a slog.Attr) bool {
			said[a.Key] = a.Value.String()
			return true
		})
		e.w.lies.heard(said["member"], said["event"])
	}
	return e.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (e ear) WithAttrs(attrs []slog.Attr) slog.Handler { return ear{e.Handler.WithAttrs(attrs), e.w} }

// WithGroup implements slog.Handler.
func (e ear) WithGroup(name string) slog.Handler { return ear{e.Handler.WithGroup(name), e.w} }

// heard counts the lies that a replica's gossip believes.
func (s *lies) heard(member, event string) {
	l := s.told.Load()
	if l == nil || l.subject != member || event != gossip.Gone.String() {
		return
	}
	l.mu.Lock()
	l.gone = true
	l.mu.Unlock()
	if !l.alive {
		s.w.book.note(func(b *book) { b.lies++ })
	}
}

// wentDown counts a host that is found dead while gossip believes that it lives, and notes
// one that lives while gossip says that it is dead.
func (s *lies) wentDown(index uint64, host string) {
	l := s.told.Load()
	if l == nil || l.subject != host {
		return
	}
	if !l.alive {
		s.w.book.note(func(b *book) {
			b.downs = append(b.downs, fmt.Sprintf("%s is down at index %d by the word of gossip", host, index))
		})
		return
	}
	l.mu.Lock()
	believed := !l.gone
	l.mu.Unlock()
	if believed {
		s.w.book.note(func(b *book) { b.lies++ })
	}
}
