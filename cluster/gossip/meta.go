package gossip

import (
	"fmt"
	"strings"
	"sync"

	"github.com/fxamacker/cbor/v2"
	"github.com/hashicorp/memberlist"
)

// Meta is what a member tells of itself. It travels in every announcement, so
// it is small.
type Meta struct {
	Role    string `cbor:"1,keyasint,omitempty"` // replica or mom
	BootID  string `cbor:"2,keyasint,omitempty"` // another one: the host, or the process, began anew
	Address string `cbor:"3,keyasint,omitempty"` // HOST:PORT of the TLS port
	Version string `cbor:"4,keyasint,omitempty"`
	Keys    uint64 `cbor:"5,keyasint,omitempty"` // generation of the keys that it has; 0: not known
	Level   uint32 `cbor:"6,keyasint,omitempty"` // feature level that its build knows; 0: it does not say
	Build   string `cbor:"7,keyasint,omitempty"` // version of Rampart
}

func (m Meta) encode() ([]byte, error) {
	data, err := cbor.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode metadata: %w", err)
	}
	if len(data) > memberlist.MetaMaxSize {
		return nil, fmt.Errorf("metadata has %d bytes, at most %d fit", len(data), memberlist.MetaMaxSize)
	}
	return data, nil
}

// momSuffix keeps a mom apart from the replica of the same host.
const momSuffix = "/mom"

// MemberName returns what memberlist calls a member of that role: a host may have a replica and
// a mom, and no two members may share a name.
func MemberName(role, host string) string {
	if role == "mom" {
		return host + momSuffix
	}
	return host
}

func hostOf(memberName string) string { return strings.TrimSuffix(memberName, momSuffix) }

// decodeMeta reads the metadata of another member. What it cannot read is
// empty: gossip is a hint, and a newer member may say what we do not know.
func decodeMeta(data []byte) Meta {
	var m Meta
	if err := cbor.Unmarshal(data, &m); err != nil {
		return Meta{}
	}
	return m
}

// delegate gives our metadata to memberlist and takes no messages of its own.
type delegate struct {
	mu   sync.Mutex
	meta Meta
}

// hold notes the generation of our keys, and reports whether that is news.
func (d *delegate) hold(generation uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	news := d.meta.Keys != generation
	d.meta.Keys = generation
	return news
}

func (d *delegate) NodeMeta(limit int) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	data, err := d.meta.encode()
	if err != nil || len(data) > limit {
		return nil // Open has refused such metadata
	}
	return data
}

func (*delegate) NotifyMsg([]byte)                {}
func (*delegate) GetBroadcasts(_, _ int) [][]byte { return nil }
func (*delegate) LocalState(bool) []byte          { return nil }
func (*delegate) MergeRemoteState([]byte, bool)   {}
