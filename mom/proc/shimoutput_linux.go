package proc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// headAtTerminal is how many bytes of a head a terminal takes that nobody reads yet: half of its buffer holds both.
const headAtTerminal = 1 << 10

// writeHead begins a stream with what a file holds, most bytes of it, if that is there.
func writeHead(stream io.Writer, head string, most int64) error {
	if head == "" {
		return nil
	}
	f, err := os.OpenFile(head, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(stream, io.LimitReader(f, most))
	return err
}

// openOutputs opens the files for standard output and error, as the owner's, and writes their heads.
func openOutputs(spec Spec) (stdout, stderr *os.File, err error) {
	if stdout, stderr, err = openStreams(spec); err != nil || spec.Restart {
		return stdout, stderr, err
	}
	if err := errors.Join(writeHead(stdout, spec.StdoutHead, math.MaxInt64), writeHead(stderr, spec.StderrHead, math.MaxInt64)); err != nil {
		if err = errors.Join(fmt.Errorf("begin output: %w", err), stdout.Close()); stderr != stdout {
			err = errors.Join(err, stderr.Close())
		}
		return nil, nil, err
	}
	return stdout, stderr, nil
}

func openStreams(spec Spec) (stdout, stderr *os.File, err error) {
	if stdout, err = openOutput(spec.Stdout, spec.StdoutInPlace, spec); err != nil {
		return nil, nil, err
	}
	if spec.Stderr == spec.Stdout {
		if spec.Again && spec.Apart != "" {
			carryOver(stdout, spec.Apart, spec)
		}
		return stdout, stdout, nil
	}
	if stderr, err = openOutput(spec.Stderr, spec.StderrInPlace, spec); err != nil {
		return nil, nil, errors.Join(err, stdout.Close())
	}
	return stdout, stderr, nil
}

// openOutput opens the file of a stream: in its place if the owner may, else in the spool,
// from where it is delivered.
func openOutput(path, inPlace string, spec Spec) (*os.File, error) {
	if inPlace != "" {
		var f *os.File
		err := asOwner(spec.Owner, func() (err error) {
			f, err = openInPlace(inPlace, fs.FileMode(0o666&^spec.Umask&0o777))
			return err
		})
		if err == nil && spec.Again {
			carryOver(f, path, spec)
		}
		if err == nil {
			return f, nil
		}
		fmt.Fprintf(os.Stderr, "%s: output of %s goes to the spool: %v\n", ShimName, spec.Job, err)
	}
	f, err := openInSpool(path, spec)
	if err != nil {
		return nil, fmt.Errorf("open output: %w", err)
	}
	err = f.Chmod(fs.FileMode(0o666 &^ spec.Umask & 0o777))
	if spec.Owner != nil {
		err = errors.Join(err, f.Chown(int(spec.Owner.UID), int(spec.Owner.GID)))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open output: %w", err), f.Close())
	}
	return f, nil
}

// carryOver puts what an earlier run has left in the spool before what is written now: in place, over which it would be delivered at the end
// of the job, or to the file of both streams, beside which nobody would deliver it.
func carryOver(to *os.File, path string, spec Spec) {
	from, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		if err = checkOurs(from, spec.Owner); err == nil {
			_, err = io.Copy(to, from)
		}
		err = errors.Join(err, from.Close())
	}
	if err = errors.Join(err, os.Remove(path)); err != nil {
		fmt.Fprintf(os.Stderr, "%s: output of an earlier run of %s is not kept: %v\n", ShimName, spec.Job, err)
	}
}

// openInSpool makes a file that nobody has open but us; a restarted program, and that of a later run, goes on with what
// was written, if that is still what we made of it. What is not keeps no later run from starting.
func openInSpool(path string, spec Spec) (*os.File, error) {
	const flags = os.O_APPEND | os.O_WRONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	if spec.Restart || spec.Again {
		f, err := os.OpenFile(path, flags, 0)
		if err == nil {
			if err = checkOurs(f, spec.Owner); err == nil {
				return f, nil
			}
			err = errors.Join(err, f.Close())
		}
		if spec.Restart && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, flags|os.O_CREATE|os.O_EXCL, 0o600)
}

// checkOurs refuses what is no file of the owner's, or has another name too.
func checkOurs(f *os.File, owner *Owner) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	mine := uint32(os.Geteuid())
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 1 || st.Uid != mine && (owner == nil || st.Uid != owner.UID) {
		return fmt.Errorf("%s is not what the job has written", f.Name())
	}
	return nil
}

// openInPlace makes a file, or opens one that is there, to write behind what it holds, or what is no file and takes output, such as
// /dev/null.
func openInPlace(path string, mode fs.FileMode) (*os.File, error) {
	const flags = os.O_CREATE | os.O_APPEND | os.O_WRONLY | syscall.O_NONBLOCK
	f, err := os.OpenFile(path, flags|os.O_EXCL, mode)
	made := err == nil
	if errors.Is(err, fs.ErrExist) {
		_, err = os.Stat(path)
		made = errors.Is(err, fs.ErrNotExist) // at the other end of a link
		f, err = os.OpenFile(path, flags, mode)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() && made {
		err = f.Chmod(mode) // whatever this process's umask is
	}
	if err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		err = errors.New("it is a pipe")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
