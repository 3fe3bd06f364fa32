package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
	"github.com/hashicorp/raft"
)

// checkedSnapshots write what Raft keeps beside a snapshot (index, term, members) into
// it as well, with a checksum: Raft's own covers the content only, and a snapshot
// that passes for one of another index is a wrong state.
type checkedSnapshots struct{ raft.SnapshotStore }

const headMagic = "RAMPARTSEAL1"

// headOf returns what is written before the content: the magic, a length, the facts, a
// checksum. It is the same for equal facts, so its length is known.
func headOf(m *raft.SnapshotMeta) ([]byte, error) {
	facts, err := json.Marshal(struct {
		Version            raft.SnapshotVersion
		Index, Term        uint64
		Configuration      raft.Configuration
		ConfigurationIndex uint64
	}{m.Version, m.Index, m.Term, m.Configuration, m.ConfigurationIndex})
	if err != nil {
		return nil, err
	}
	b := binary.BigEndian.AppendUint32([]byte(headMagic), uint32(len(facts)))
	b = append(b, facts...)
	return binary.BigEndian.AppendUint64(b, xxhash.Sum64(facts)), nil
}

// Create implements raft.SnapshotStore.
func (s checkedSnapshots) Create(version raft.SnapshotVersion, index, term uint64, c raft.Configuration, cIndex uint64, t raft.Transport) (raft.SnapshotSink, error) {
	head, err := headOf(&raft.SnapshotMeta{Version: version, Index: index, Term: term, Configuration: c, ConfigurationIndex: cIndex})
	if err != nil {
		return nil, err
	}
	sink, err := s.SnapshotStore.Create(version, index, term, c, cIndex, t)
	if err != nil {
		return nil, err
	}
	if _, err := sink.Write(head); err != nil {
		_ = sink.Cancel()
		return nil, err
	}
	return sink, nil
}

// List implements raft.SnapshotStore.
func (s checkedSnapshots) List() ([]*raft.SnapshotMeta, error) {
	all, err := s.SnapshotStore.List()
	for _, m := range all {
		if head, err := headOf(m); err == nil {
			m.Size -= int64(len(head))
		}
	}
	return all, err
}

// Open implements raft.SnapshotStore.
func (s checkedSnapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	meta, content, err := s.SnapshotStore.Open(id)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: snapshot %s: %w", ErrDamaged, id, err)
	}
	head, err := headOf(meta)
	if err == nil {
		got := make([]byte, len(head))
		if _, err = io.ReadFull(content, got); err == nil && !bytes.Equal(got, head) {
			err = fmt.Errorf("what is written beside it does not belong to it")
		}
	}
	if err != nil {
		_ = content.Close()
		return nil, nil, fmt.Errorf("%w: snapshot %s: %w", ErrDamaged, id, err)
	}
	m := *meta
	m.Size -= int64(len(head))
	return &m, content, nil
}
