package service

import (
	"testing"

	"connectrpc.com/connect"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

func (b *bench) server(attributes ...*api.Attribute) {
	b.t.Helper()
	if err := b.manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SERVER, "", attributes...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) queue(name string, attributes ...*api.Attribute) {
	b.t.Helper()
	verb := api.Verb_VERB_SET
	if _, ok := b.store.View().Queue(pbs.QueueName(name)); !ok {
		verb = api.Verb_VERB_CREATE
	}
	if err := b.manage(verb, api.ObjectKind_OBJECT_KIND_QUEUE, name, attributes...); err != nil {
		b.t.Fatal(err)
	}
}

// The access lists of the server shut people out of everything, root on a replica's host
// excepted; those of a queue out of that queue.
func TestAccess(t *testing.T) {
	for _, c := range []struct {
		name, who     string
		server, queue []*api.Attribute
		want          pbs.Code
	}{
		{name: "no list", who: "ann@login1"},
		{name: "a list that is not enabled", who: "ann@login1", server: []*api.Attribute{set("acl_users", "bob")}},
		{name: "host", who: "ann@login1", server: []*api.Attribute{set("acl_hosts", "login1"), set("acl_host_enable", "True")}},
		{name: "host by pattern", who: "ann@login1.site.org", server: []*api.Attribute{set("acl_hosts", "*.Site.org"), set("acl_host_enable", "True")}},
		{name: "foreign host", who: "ann@login2", server: []*api.Attribute{set("acl_hosts", "login1"), set("acl_host_enable", "True")}, want: pbs.NoServer},
		{name: "no host at all", who: "ann@login2", server: []*api.Attribute{set("acl_host_enable", "True")}, want: pbs.NoServer},
		{name: "user", who: "ann@login1", server: []*api.Attribute{set("acl_users", "ann@*"), set("acl_user_enable", "True")}},
		{name: "user at another host", who: "ann@login1", server: []*api.Attribute{set("acl_users", "ann@login2"), set("acl_user_enable", "True")}, want: pbs.Unauthorized},
		{name: "user but one", who: "ann@login1", server: []*api.Attribute{set("acl_users", "-ann,+*"), set("acl_user_enable", "True")}, want: pbs.Unauthorized},
		{name: "all but one", who: "bob@login1", server: []*api.Attribute{set("acl_users", "-ann,+"), set("acl_user_enable", "True")}},
		{name: "group of the server", who: "ann@login1", server: []*api.Attribute{set("acl_groups", "wheel"), set("acl_group_enable", "True")}, want: pbs.Unauthorized},
		{name: "queue, group", who: "ann@login1", queue: []*api.Attribute{set("acl_groups", "users"), set("acl_group_enable", "True")}},
		{name: "queue, another group of the user's", who: "ann@login1", queue: []*api.Attribute{set("acl_groups", "anns"), set("acl_group_enable", "True")}},
		{name: "queue, a group of the user's that is shut out", who: "ann@login1", queue: []*api.Attribute{set("acl_groups", "-anns,+"), set("acl_group_enable", "True")}, want: pbs.Unauthorized},
		{name: "another group of the user's, of the server", who: "ann@login1", server: []*api.Attribute{set("acl_groups", "anns"), set("acl_group_enable", "True")}},
		{name: "queue, foreign group", who: "ann@login1", queue: []*api.Attribute{set("acl_groups", "wheel"), set("acl_group_enable", "True")}, want: pbs.Unauthorized},
		{name: "queue, user", who: "ann@login1", queue: []*api.Attribute{set("acl_users", "bob"), set("acl_user_enable", "True")}, want: pbs.Unauthorized},
		{name: "queue, host", who: "ann@login1", queue: []*api.Attribute{set("acl_hosts", "-login1,+"), set("acl_host_enable", "True")}, want: pbs.UnknownHost},
		{name: "queue that is fed by routing only", who: "ann@login1", queue: []*api.Attribute{set("from_route_only", "True")}, want: pbs.QueueAccess},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			if len(c.queue) > 0 {
				b.queue("workq", c.queue...)
			}
			if len(c.server) > 0 {
				b.server(c.server...)
			}
			if _, err := b.submit(c.who); pbs.CodeOf(err) != c.want {
				t.Errorf("submit: %v, want %d", err, c.want)
			}
			if err := b.manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SERVER, "", set("comment", "x")); err != nil {
				t.Errorf("root is shut out: %v", err)
			}
		})
	}
}

// The hosts of moms are let in where the site says so.
func TestAccess_HostsOfMoms(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	b.server(set("acl_hosts", "login1"), set("acl_host_enable", "True"))
	if _, err := b.submit("ann@hosta"); pbs.CodeOf(err) != pbs.NoServer {
		t.Errorf("submit: %v", err)
	}
	b.server(set("acl_host_moms_enable", "True"))
	if _, err := b.submit("ann@hosta"); err != nil {
		t.Error(err)
	}
}

// Users see nothing of invisible resources, and can set neither these nor read-only ones;
// operators see them, managers set them (specification: cli-contract section 5, flags).
func TestResources_InvisibleAndReadOnly(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	for name, flag := range map[string]string{"secret": "i", "fixed": "r"} {
		if err := b.manage(api.Verb_VERB_CREATE, api.ObjectKind_OBJECT_KIND_RESOURCE, name, set("type", "long"), set("flag", flag)); err != nil {
			t.Fatal(err)
		}
		if _, err := b.submit("ann@h", set("Resource_List."+name, "1")); pbs.CodeOf(err) != pbs.ReadOnlyAttribute {
			t.Errorf("a user asks for %s: %v", name, err)
		}
		b.server(set("resources_available."+name, "1"))
	}
	for who, want := range map[string]bool{"ann@h": false, "root@replica:s1": true} {
		got := map[string]bool{}
		err := b.Batch.list(b.as(who), &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SERVER}, func(r *api.ListReply) error {
			for _, o := range r.GetObjects() {
				for _, a := range o.GetAttributes() {
					got[a.GetName()+"."+a.GetResource()] = true
				}
			}
			return nil
		})
		if err != nil || got["resources_available.secret"] != want || !got["resources_available.fixed"] {
			t.Errorf("%s sees %v, %v", who, got["resources_available.secret"], err)
		}
	}
}

// What operators may: schedule, open and close queues, offline nodes; not make objects, nor
// change what is a manager's.
func TestOperators(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	b.server(set("operators", "olga@*"))
	do := func(verb api.Verb, kind api.ObjectKind, name string, changes ...*api.Attribute) error {
		_, err := b.Batch.Manage(b.as("olga@login1"), connect.NewRequest(&api.ManageRequest{Verb: verb, Kind: kind, Name: name, Changes: changes}))
		return err
	}
	for _, c := range []struct {
		err  error
		want pbs.Code
	}{
		{do(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SERVER, "", set("scheduling", "False")), 0},
		{do(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_QUEUE, "workq", set("enabled", "False"), set("started", "False")), 0},
		{do(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_VNODE, "hosta", set("state", "offline"), set("comment", "fan")), 0},
		{do(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SCHED, "", set("scheduling", "True")), 0},
		{do(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SERVER, "", set("max_run", "[u:PBS_GENERIC=1]")), pbs.ReadOnlyAttribute},
		{do(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SERVER, "", set("managers", "olga@*")), pbs.ReadOnlyAttribute},
		{do(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SCHED, "", set("preempt_order", "S")), pbs.ReadOnlyAttribute},
		{do(api.Verb_VERB_CREATE, api.ObjectKind_OBJECT_KIND_QUEUE, "q2"), pbs.Unauthorized},
		{do(api.Verb_VERB_DELETE, api.ObjectKind_OBJECT_KIND_VNODE, "hosta"), pbs.Unauthorized},
	} {
		if pbs.CodeOf(c.err) != c.want {
			t.Errorf("answered %v, want %d", c.err, c.want)
		}
	}
	if _, ok := b.store.View().Queue("q2"); ok || command.HostListed(nil, "x") {
		t.Error("the queue was made")
	}
}
