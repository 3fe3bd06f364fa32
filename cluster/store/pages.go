package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
)

// checkPages reads every page of a bolt file that is in use and refuses a file that
// bolt would trip over: bolt trusts all but its two meta pages, and would panic, or
// read past the end of its map, or see fewer records than there are. The contents of the
// records have checksums of their own.
func checkPages(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	p := &pages{file: file, size: int64(os.Getpagesize()), seen: make(map[uint64]bool)}
	if err := p.check(uint64(info.Size())); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	return nil
}

// The form of a bolt file (version 2). Numbers are in the order of the machine that
// wrote it; ours are little-endian.
const (
	boltMagic   = 0xED0CDAED
	boltVersion = 2
	pageHead    = 16
	elementSize = 16
	bucketHead  = 16
	branchPage  = 0x01
	leafPage    = 0x02
	bucketLeaf  = 0x01
	deepest     = 64
)

type pages struct {
	file *os.File
	size int64
	high uint64 // pages from this one on are not in use
	seen map[uint64]bool
}

type boltMeta struct{ root, high, tx uint64 }

var order = binary.LittleEndian

// check demands both meta pages. Bolt makes do with one, which is then that of the
// last write but one, and a disk that has forgotten a vote. A crash does not damage
// one: it is smaller than a sector.
func (p *pages) check(fileSize uint64) error {
	var newest boltMeta
	for i := range int64(2) {
		m, err := p.meta(i)
		if err != nil {
			return err
		}
		if m.tx >= newest.tx {
			newest = m
		}
	}
	if newest.high > fileSize/uint64(p.size) {
		return fmt.Errorf("it is %d bytes long and should have %d pages", fileSize, newest.high)
	}
	p.high = newest.high
	return p.walk(newest.root, nil, nil, 0, "")
}

func (p *pages) meta(i int64) (boltMeta, error) {
	b := make([]byte, pageHead+64)
	if _, err := p.file.ReadAt(b, i*p.size); err != nil {
		return boltMeta{}, fmt.Errorf("meta page %d: %w", i, err)
	}
	b = b[pageHead:]
	sum := fnv.New64a()
	_, _ = sum.Write(b[:56])
	if order.Uint32(b) != boltMagic || order.Uint32(b[4:]) != boltVersion || int64(order.Uint32(b[8:])) != p.size || order.Uint64(b[56:]) != sum.Sum64() {
		return boltMeta{}, fmt.Errorf("meta page %d: its checksum does not match", i)
	}
	return boltMeta{root: order.Uint64(b[16:]), high: order.Uint64(b[40:]), tx: order.Uint64(b[48:])}, nil
}

// walk checks a page and all below it. The keys there are at least lo and below hi.
func (p *pages) walk(id uint64, lo, hi []byte, depth int, bucket string) error {
	b, err := p.read(id)
	if err == nil && depth > deepest {
		err = errors.New("it lies too deep")
	}
	if err == nil {
		err = p.content(b, lo, hi, depth, bucket)
	}
	var inner *pageError
	if err != nil && !errors.As(err, &inner) {
		return &pageError{id, err}
	}
	return err
}

type pageError struct {
	page uint64
	err  error
}

func (e *pageError) Error() string { return fmt.Sprintf("page %d: %v", e.page, e.err) }
func (e *pageError) Unwrap() error { return e.err }

// read returns a page with its overflow, and takes note that it is in use.
func (p *pages) read(id uint64) ([]byte, error) {
	if id < 2 || id >= p.high {
		return nil, errors.New("there is no such page")
	}
	head := make([]byte, pageHead)
	if _, err := p.file.ReadAt(head, int64(id)*p.size); err != nil {
		return nil, err
	}
	more := uint64(order.Uint32(head[12:]))
	if order.Uint64(head) != id || id+more >= p.high {
		return nil, errors.New("its head is wrong")
	}
	for i := id; i <= id+more; i++ {
		if p.seen[i] {
			return nil, fmt.Errorf("page %d is used twice", i)
		}
		p.seen[i] = true
	}
	b := make([]byte, (int64(more)+1)*p.size)
	_, err := p.file.ReadAt(b, int64(id)*p.size)
	return b, err
}

func (p *pages) content(b, lo, hi []byte, depth int, bucket string) error {
	flags, count := order.Uint16(b[8:]), int(order.Uint16(b[10:]))
	if flags != branchPage && flags != leafPage || pageHead+count*elementSize > len(b) {
		return errors.New("its head is wrong")
	}
	elements := make([]element, count)
	for i := range elements {
		e, err := elementAt(b, i, flags == branchPage)
		if err != nil {
			return err
		}
		if i > 0 && bytes.Compare(elements[i-1].key, e.key) >= 0 || bytes.Compare(e.key, lo) < 0 || hi != nil && bytes.Compare(e.key, hi) >= 0 {
			return errors.New("its keys are not in order")
		}
		elements[i] = e
	}
	if flags == branchPage {
		return p.branch(elements, hi, depth, bucket)
	}
	return p.leaf(elements, depth, bucket)
}

type element struct {
	key, value []byte
	child      uint64
	flags      uint32
}

func elementAt(b []byte, i int, branch bool) (element, error) {
	at := pageHead + i*elementSize
	head := b[at : at+elementSize]
	var e element
	var pos, keys, values uint64
	if branch {
		pos, keys, e.child = uint64(order.Uint32(head)), uint64(order.Uint32(head[4:])), order.Uint64(head[8:])
	} else {
		e.flags = order.Uint32(head)
		pos, keys, values = uint64(order.Uint32(head[4:])), uint64(order.Uint32(head[8:])), uint64(order.Uint32(head[12:]))
	}
	from := uint64(at) + pos
	if from+keys+values > uint64(len(b)) || pos < elementSize {
		return e, fmt.Errorf("element %d lies outside", i)
	}
	e.key, e.value = b[from:from+keys], b[from+keys:from+keys+values]
	return e, nil
}

func (p *pages) branch(elements []element, hi []byte, depth int, bucket string) error {
	if len(elements) == 0 {
		return errors.New("a branch without leaves")
	}
	for i, e := range elements {
		end := hi
		if i+1 < len(elements) {
			end = elements[i+1].key
		}
		if err := p.walk(e.child, e.key, end, depth+1, bucket); err != nil {
			return err
		}
	}
	return nil
}

func (p *pages) leaf(elements []element, depth int, bucket string) error {
	for _, e := range elements {
		switch {
		case e.flags > bucketLeaf, e.flags == bucketLeaf && len(e.value) < bucketHead:
			return errors.New("an element is of no kind")
		case e.flags != bucketLeaf:
			if bucket == logBucket && len(e.key) != 8 {
				return errors.New("an entry has no index")
			}
			continue
		}
		if err := p.bucket(e, depth); err != nil {
			return err
		}
	}
	return nil
}

// logBucket is the bucket in which raft-boltdb keeps the entries.
const logBucket = "logs"

// bucket checks a bucket, which has pages of its own or lies within its element.
func (p *pages) bucket(e element, depth int) error {
	if root := order.Uint64(e.value); root != 0 {
		return p.walk(root, nil, nil, depth+1, string(e.key))
	}
	inline := e.value[bucketHead:]
	if len(inline) < pageHead || order.Uint16(inline[8:]) != leafPage {
		return errors.New("a small bucket is broken")
	}
	return p.content(inline, nil, nil, depth+1, string(e.key))
}
