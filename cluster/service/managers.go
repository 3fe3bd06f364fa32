package service

import (
	"context"
	"errors"
	"net"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// knownHosts refuses managers and operators of a host that the name service does not know, as a PBS does: nobody could come from
// there. A name service that does not answer keeps nobody from being named, nor does it have to know the hosts of the cluster.
func (b *Batch) knownHosts(ctx context.Context, v *state.View, r *api.ManageRequest) error {
	if b.Resolve == nil || r.GetKind() != api.ObjectKind_OBJECT_KIND_SERVER || r.GetVerb() != api.Verb_VERB_SET {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, resolveWithin)
	defer cancel()
	for _, ch := range r.GetChanges() {
		def, known := attr.Lookup(attr.Server, ch.GetName())
		if !known || def.Name != "managers" && def.Name != "operators" || ch.GetOp() == api.Op_OP_UNSET || ch.GetOp() == api.Op_OP_DECREASE {
			continue
		}
		for item := range strings.SplitSeq(ch.GetValue(), ",") {
			_, host, _ := strings.Cut(strings.TrimSpace(item), "@")
			if host == "" || strings.HasPrefix(host, "*") || isAlias(v, host) || isHost(v, host) {
				continue
			}
			_, err := b.Resolve(ctx, host)
			if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
				return pbs.Attribute(pbs.UnknownHost, def.Name)
			}
		}
	}
	return nil
}

// isHost reports whether a mom of the cluster, or a login host, is on a host of that name.
func isHost(v *state.View, name string) bool {
	for h := range v.Hosts() {
		if pbs.SameHost(name, string(h.Name)) {
			return true
		}
	}
	return false
}
