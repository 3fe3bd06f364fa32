// Package snapshot owns the snapshot file: a magic text, a version, and then, in
// one zstd stream, a header, one section for each table with its records sorted by
// key, and a checksum of all that. Two replicas with equal states write equal
// content. Writing reads an immutable View, so nothing waits for it; reading builds
// a new store and never patches an old one.
package snapshot

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/cespare/xxhash/v2"
	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"rampart/fsm/command"
	"rampart/fsm/state"
)

// magic begins every snapshot file; the last two digits are the format's version.
const magic = "RAMPARTSNAP01"

// ErrCorrupt is wrapped by every error about the content of a snapshot: it is
// refused as a whole, never applied in part.
var ErrCorrupt = errors.New("snapshot is corrupt")

// Header says of which moment the snapshot is.
type Header struct {
	Index   uint64 `cbor:"1,keyasint"`
	Term    uint64 `cbor:"2,keyasint"`
	Digest  uint64 `cbor:"3,keyasint"`
	Cluster string `cbor:"4,keyasint,omitempty"` // cluster id
	Server  string `cbor:"5,keyasint,omitempty"` // server name
	Jobs    int    `cbor:"6,keyasint,omitempty"`
}

// section announces the records of one table; a Tag of 0 ends the file.
type section struct {
	Tag   byte `cbor:"1,keyasint"`
	Count int  `cbor:"2,keyasint,omitempty"`
}

// Write streams the view to w.
func Write(w io.Writer, v *state.View) error {
	if _, err := io.WriteString(w, magic); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	if err := errors.Join(writeAll(z, v), z.Close()); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return nil
}

func writeAll(w io.Writer, v *state.View) error {
	sum := xxhash.New()
	buf := bufio.NewWriterSize(io.MultiWriter(w, sum), 1<<16)
	mode, err := state.Encoding().EncMode()
	if err != nil {
		return err
	}
	enc := mode.NewEncoder(buf)
	if err := enc.Encode(headerOf(v)); err != nil {
		return err
	}
	for _, s := range v.Sections() {
		if err := enc.Encode(section{Tag: s.Tag, Count: s.Count}); err != nil {
			return err
		}
		for rec := range s.Records {
			if err := enc.Encode(rec); err != nil {
				return err
			}
		}
	}
	if err := enc.Encode(section{}); err != nil {
		return err
	}
	if err := buf.Flush(); err != nil {
		return err
	}
	_, err = w.Write(binary.BigEndian.AppendUint64(nil, sum.Sum64()))
	return err
}

func headerOf(v *state.View) Header {
	return Header{
		Index: v.Index(), Term: v.Term(), Digest: v.Digest(),
		Cluster: v.Cluster().ID, Server: v.Cluster().Name, Jobs: v.JobCount(),
	}
}

// reader reads CBOR items and hashes exactly the bytes that they take.
type reader struct {
	dec *cbor.Decoder
	src *tee
}

// tee keeps what was read from the stream but not yet hashed.
type tee struct {
	r    io.Reader
	read []byte
	sum  hash.Hash64
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.read = append(t.read, p[:n]...)
	return n, err
}

// settle hashes n bytes of what was read.
func (t *tee) settle(n int) {
	_, _ = t.sum.Write(t.read[:n])
	t.read = append(t.read[:0], t.read[n:]...)
}

func newReader(z io.Reader) (*reader, error) {
	mode, err := cbor.DecOptions{
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
		MaxNestedLevels:   16, MaxArrayElements: 1 << 20, MaxMapPairs: 1 << 16,
		TextUnmarshaler: cbor.TextUnmarshalerTextString,
	}.DecMode()
	if err != nil {
		return nil, err
	}
	src := &tee{r: z, sum: xxhash.New()}
	return &reader{dec: mode.NewDecoder(src), src: src}, nil
}

func (r *reader) decode(v any) error {
	before := r.dec.NumBytesRead()
	if err := r.dec.Decode(v); err != nil {
		if _, ok := errors.AsType[*cbor.UnknownFieldError](err); ok {
			return fmt.Errorf("%w, or corrupt: %w", command.ErrTooOld, err)
		}
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	r.src.settle(r.dec.NumBytesRead() - before)
	return nil
}

// finish compares the checksum and makes sure that nothing follows.
func (r *reader) finish() error {
	rest, err := io.ReadAll(io.MultiReader(r.dec.Buffered(), io.LimitReader(r.src.r, 16)))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if len(rest) != 8 || binary.BigEndian.Uint64(rest) != r.src.sum.Sum64() {
		return fmt.Errorf("%w: the checksum does not match", ErrCorrupt)
	}
	return nil
}

// Read builds a store from a snapshot and checks it: the checksum, the digest, and
// the laws that its records could break. Any fault refuses the whole.
func Read(r io.Reader) (*state.Store, Header, error) {
	var h Header
	rd, z, err := open(r, &h)
	if err != nil {
		return nil, h, fmt.Errorf("read snapshot: %w", err)
	}
	defer z.Close()
	loader := state.NewLoader()
	if err := rd.sections(loader); err != nil {
		return nil, h, fmt.Errorf("read snapshot: %w", err)
	}
	s := loader.Store(h.Index, h.Term)
	if d := s.View().Digest(); d != h.Digest {
		return nil, h, fmt.Errorf("read snapshot: %w: digest %x, the header says %x", ErrCorrupt, d, h.Digest)
	}
	if err := s.View().CheckContent(); err != nil {
		return nil, h, fmt.Errorf("read snapshot: %w: %w", ErrCorrupt, err)
	}
	return s, h, nil
}

// Inspect reads only the header.
func Inspect(r io.Reader) (Header, error) {
	var h Header
	_, z, err := open(r, &h)
	if err != nil {
		return h, fmt.Errorf("inspect snapshot: %w", err)
	}
	z.Close()
	return h, nil
}

func open(r io.Reader, h *Header) (*reader, *zstd.Decoder, error) {
	got := make([]byte, len(magic))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != magic {
		return nil, nil, fmt.Errorf("%w: it does not begin with %s", ErrCorrupt, magic)
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30))
	if err != nil {
		return nil, nil, err
	}
	rd, err := newReader(z)
	if err == nil {
		err = rd.decode(h)
	}
	if err != nil {
		z.Close()
		return nil, nil, err
	}
	return rd, z, nil
}

// Bounds on what is decoded and waits to be put into the store.
const (
	batchRecords = 256
	batchesAhead = 4
)

// sections decodes on one core while what was decoded is put into its place, and hashed, on
// another: a replica that starts waits for nothing else.
func (r *reader) sections(l *state.Loader) error {
	work, ctx := errgroup.WithContext(context.Background())
	batches := make(chan []state.Loaded, batchesAhead)
	work.Go(func() error {
		defer close(batches)
		return r.batches(ctx, batches)
	})
	work.Go(func() error {
		for batch := range batches {
			for _, rec := range batch {
				if err := l.Put(rec); err != nil {
					return fmt.Errorf("%w: %w", ErrCorrupt, err)
				}
			}
		}
		return nil
	})
	return work.Wait()
}

func (r *reader) batches(ctx context.Context, to chan<- []state.Loaded) error {
	for {
		var s section
		if err := r.decode(&s); err != nil {
			return err
		}
		if s.Tag == 0 {
			return r.finish()
		}
		for left := s.Count; left > 0; left -= batchRecords {
			batch, err := r.batch(s.Tag, min(left, batchRecords))
			if err != nil {
				return err
			}
			select {
			case to <- batch:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

func (r *reader) batch(tag byte, n int) ([]state.Loaded, error) {
	batch := make([]state.Loaded, 0, n)
	for range n {
		rec, err := state.Decode(tag, r.decode)
		if errors.Is(err, state.ErrUnknownSection) {
			return nil, fmt.Errorf("%w, or corrupt: %w", command.ErrTooOld, err)
		}
		if err != nil {
			return nil, err
		}
		batch = append(batch, rec)
	}
	return batch, nil
}
