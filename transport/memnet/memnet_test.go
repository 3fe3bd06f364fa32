package memnet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/nettest"
)

func TestStream_IsANetConn(t *testing.T) {
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
		c1, c2 = connected(t, New(1))
		return c1, c2, func() { _ = c1.Close(); _ = c2.Close() }, nil
	})
}

// connected returns the two ends of a stream from host a to host b.
func connected(t *testing.T, n *Net) (a, b net.Conn) {
	t.Helper()
	ln, err := n.Host("b").Listen(t.Context(), "b:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	a, err = n.Host("a").Dial(t.Context(), ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err = ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

func read(t *testing.T, c net.Conn, want string) {
	t.Helper()
	b := make([]byte, len(want))
	if _, err := io.ReadFull(c, b); err != nil || string(b) != want {
		t.Fatalf("read %q, %v; want %q", b, err, want)
	}
}

func TestCut_HoldsStreamsUntilHealed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(1)
		a, b := connected(t, n)
		n.CutOneWay("a", "b")
		_, _ = a.Write([]byte("held"))
		_, _ = b.Write([]byte("free"))
		read(t, a, "free")
		_ = b.SetReadDeadline(time.Now().Add(time.Hour))
		if _, err := b.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("read over a cut link: %v", err)
		}
		_ = b.SetReadDeadline(time.Time{})
		time.AfterFunc(time.Second, n.HealAll)
		read(t, b, "held")
	})
}

func TestCut_HoldsTheEndToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(1)
		a, b := connected(t, n)
		n.Cut("a", "b")
		n.Host("a").Crash()
		if _, err := a.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("write after the own crash: %v", err)
		}
		_ = b.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := b.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the reset came through a cut link: %v", err)
		}
		n.Heal("a", "b")
		_ = b.SetReadDeadline(time.Time{})
		if _, err := b.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("read after the peer's crash: %v", err)
		}
	})
}

func TestDelay_HoldsEachWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(1)
		n.Host("b")
		n.Delay("a", "b", 30*time.Millisecond)
		start := time.Now()
		a, b := connected(t, n)
		if d := time.Since(start); d != 60*time.Millisecond {
			t.Errorf("connecting took %v", d)
		}
		start = time.Now()
		_, _ = a.Write([]byte("ping"))
		read(t, b, "ping")
		if d := time.Since(start); d != 30*time.Millisecond {
			t.Errorf("a message took %v", d)
		}
		_ = a.Close()
		if _, err := b.Read(make([]byte, 1)); err != io.EOF || time.Since(start) != 60*time.Millisecond {
			t.Errorf("the end came after %v: %v", time.Since(start), err)
		}
	})
}

func TestWrite_WaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := connected(t, New(1))
		sent := bytes.Repeat([]byte("0123456789"), window/4)
		go func() {
			_, _ = a.Write(sent)
			_ = a.Close()
		}()
		synctest.Wait()
		got, err := io.ReadAll(b)
		if err != nil || !bytes.Equal(got, sent) {
			t.Errorf("read %d of %d bytes: %v", len(got), len(sent), err)
		}
	})
}

func TestDial_Refused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(1)
		n.Host("b")
		if _, err := n.Host("a").Dial(t.Context(), "b:1"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("nobody listens: %v", err)
		}
		if _, err := n.Host("a").Dial(t.Context(), "c:1"); err == nil {
			t.Error("dialled a host that is not there")
		}
		n.Cut("a", "b")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := n.Host("a").Dial(ctx, "b:1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("over a cut link: %v", err)
		}
	})
}

func TestCrash_FreesThePorts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(1)
		b := n.Host("b")
		ln, _ := b.Listen(t.Context(), ":15001")
		waiting, err := n.Host("a").Dial(t.Context(), "b:15001")
		if err != nil {
			t.Fatal(err)
		}
		b.Crash()
		if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("accept: %v", err)
		}
		if _, err := waiting.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("a stream nobody accepted: %v", err)
		}
		if _, err := b.Listen(t.Context(), "b:15001"); err != nil {
			t.Errorf("listen again: %v", err)
		}
	})
}

func packets(t *testing.T, n *Net) (a, b net.PacketConn) {
	t.Helper()
	a, err := n.Host("a").ListenPacket(t.Context(), "a:1")
	if err != nil {
		t.Fatal(err)
	}
	b, err = n.Host("b").ListenPacket(t.Context(), "0.0.0.0:2")
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

// count sends packets from a to b and says how many arrive within a second.
func count(a, b net.PacketConn, sent int) int {
	for range sent {
		_, _ = a.WriteTo([]byte("x"), b.LocalAddr())
	}
	_ = b.SetReadDeadline(time.Now().Add(time.Second))
	for n := 0; ; n++ {
		if _, _, err := b.ReadFrom(make([]byte, 9)); err != nil {
			return n
		}
	}
}

func TestPackets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(7)
		a, b := packets(t, n)
		if got := count(a, b, 10); got != 10 {
			t.Errorf("%d of 10 arrived", got)
		}
		if got := count(a, b, queued+10); got != queued {
			t.Errorf("%d arrived at a queue of %d", got, queued)
		}
		n.Drop("a", "b", 0.5)
		if got := count(a, b, 1000); got < 400 || got > 600 {
			t.Errorf("%d of 1000 arrived over a link that loses half", got)
		}
		n.Heal("a", "b")
		n.Delay("a", "b", 100*time.Millisecond)
		if got := count(a, b, 10); got != 10 {
			t.Errorf("%d of 10 arrived late", got)
		}
		n.CutOneWay("a", "b")
		if got := count(a, b, 10); got != 0 {
			t.Errorf("%d arrived over a cut link", got)
		}
		if got := count(b, a, 10); got != 10 {
			t.Errorf("%d of 10 arrived the other way", got)
		}
		from := make(chan net.Addr, 1)
		n.HealAll()
		_ = b.SetReadDeadline(time.Time{})
		go func() {
			_, addr, _ := b.ReadFrom(make([]byte, 9))
			from <- addr
		}()
		_, _ = a.WriteTo([]byte("x"), b.LocalAddr())
		if got := <-from; got.String() != "10.0.0.1:1" {
			t.Errorf("from %v", got)
		}
		go func() { _, _, _ = b.ReadFrom(make([]byte, 9)) }()
		synctest.Wait()
		_ = b.Close()
	})
}
