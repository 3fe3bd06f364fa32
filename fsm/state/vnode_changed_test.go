package state

import (
	"strings"
	"testing"

	"rampart/fsm/alloc"
	"rampart/fsm/pbs"
)

// The log says by PBS's numbers what has become of a vnode, and by which bits.
func TestChangedState(t *testing.T) {
	for _, c := range []struct {
		old, now VnodeFlags
		want     string
	}{
		{0, VnodeOffline, "vnode.state=0x1 vnode_o.state=0x0 vnode.last_state_change_time=7 vnode_o.last_state_change_time=5 state_bits=0x1 state_bit_op_type_str=Nd_State_Or state_bit_op_type_enum=1"},
		{VnodeOffline | VnodeBusy, VnodeOffline, "vnode.state=0x1 vnode_o.state=0x81 vnode.last_state_change_time=7 vnode_o.last_state_change_time=5 state_bits=0xffffffffffffff7f state_bit_op_type_str=Nd_State_And state_bit_op_type_enum=2"},
		{VnodeDown | VnodeUnknown, VnodeOffline, "vnode.state=0x1 vnode_o.state=0x102 vnode.last_state_change_time=7 vnode_o.last_state_change_time=5 state_bits=0x1 state_bit_op_type_str=Nd_State_Set state_bit_op_type_enum=0"},
		{VnodeStale, 0, "vnode.state=0x0 vnode_o.state=0x20 vnode.last_state_change_time=7 vnode_o.last_state_change_time=5 state_bits=0xffffffffffffffdf state_bit_op_type_str=Nd_State_And state_bit_op_type_enum=2"},
	} {
		got := changedState(&Vnode{Flags: c.old, LastStateChange: 5e9}, &Vnode{Flags: c.now, LastStateChange: pbs.Time(7e9)})
		if text, ok := strings.CutPrefix(got, "set_vnode_state;"); text != c.want || !ok {
			t.Errorf("%d to %d: %s", c.old, c.now, got)
		}
	}
	for word, bit := range stateBits {
		if bit&(bit-1) != 0 {
			t.Errorf("%s is no bit", word)
		}
	}
}

// The words of a state stand in PBS's order, whatever came first.
func TestState_WordsInPBSOrder(t *testing.T) {
	for want, v := range map[string]*Vnode{
		"free":                         {},
		"job-exclusive,maintenance":    {Jobs: []VnodeJob{{Job: "1.s", Exclusive: true}, {Job: "2.s", Admin: true, Suspended: true}}},
		"state-unknown,down":           {Flags: VnodeUnknown | VnodeDown},
		"down,offline":                 {Flags: VnodeOffline | VnodeTroubled},
		"Stale,offline,busy":           {Flags: VnodeBusy | VnodeOffline | VnodeStale},
		"resv-exclusive":               {Account: alloc.Account{Reserved: []alloc.Reserved{{Exclusive: true}}}},
		"offline,busy,resv-exclusive":  {Flags: VnodeOffline | VnodeBusy, Account: alloc.Account{Reserved: []alloc.Reserved{{Exclusive: true}}}},
		"job-exclusive,resv-exclusive": {Jobs: []VnodeJob{{Exclusive: true}}, Account: alloc.Account{Reserved: []alloc.Reserved{{Exclusive: true}}}},
	} {
		if got := v.State(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
