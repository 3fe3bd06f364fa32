package transport

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"rampart/transport/own"
)

// maxSocketPath is what the kernel takes for the name of a socket.
const maxSocketPath = 107

// ListenUnix opens the socket of a gateway, open to every user of the host: the
// kernel tells them apart. A socket that another process left is replaced; one
// that somebody serves is an error. To close the listener leaves the socket behind: a
// command then knows that this host has a daemon, and waits for it to be started again.
func ListenUnix(ctx context.Context, path string) (net.Listener, error) {
	if err := own.Folder(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("open gateway: %w", err)
	}
	if err := removeDeadSocket(ctx, path); err != nil {
		return nil, fmt.Errorf("open gateway: %w", err)
	}
	var ln net.Listener
	err := withShortPath(path, func(short string) (err error) {
		var lc net.ListenConfig
		ln, err = lc.Listen(ctx, "unix", short)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open gateway: %w", err)
	}
	ul := &unixListener{UnixListener: ln.(*net.UnixListener), path: path}
	ul.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o666); err != nil {
		return nil, errors.Join(fmt.Errorf("open gateway: %w", err), ul.Close())
	}
	return ul, nil
}

// unixListener knows the full path of its socket, however it was bound.
type unixListener struct {
	*net.UnixListener
	path string
}

// Addr implements net.Listener.
func (l *unixListener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

// DialUnix connects to the socket of a gateway.
func DialUnix(ctx context.Context, path string) (net.Conn, error) {
	var c net.Conn
	err := withShortPath(path, func(short string) (err error) {
		var d net.Dialer
		c, err = d.DialContext(ctx, "unix", short)
		return err
	})
	return c, err
}

// withShortPath lends a name that the kernel takes for a socket whose own is
// too long: it goes by way of the opened folder.
func withShortPath(path string, do func(short string) error) error {
	if len(path) <= maxSocketPath {
		return do(path)
	}
	fd, err := syscall.Open(filepath.Dir(path), syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: filepath.Dir(path), Err: err}
	}
	defer func() { _ = syscall.Close(fd) }()
	return do("/proc/self/fd/" + strconv.Itoa(fd) + "/" + filepath.Base(path))
}

func removeDeadSocket(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is in the way", path)
	}
	if c, err := DialUnix(ctx, path); err == nil {
		return errors.Join(fmt.Errorf("%s is in use by another process", path), c.Close())
	}
	return os.Remove(path)
}
