package service

import (
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
)

// admitted refuses people whom the access lists of the server shut out, whatever they ask
// for: acl_hosts and acl_users. root on a replica's host is never shut out, for nobody else
// could mend the lists; nor are the hosts of moms if acl_host_moms_enable says so. Groups
// are a matter of the job (fsm/command).
func admitted(v *state.View, caller transport.Caller) error {
	s := v.Server()
	if caller.User.Name == "root" && onReplica(v, caller) {
		return nil
	}
	if s.Bool("acl_host_enable") && !onReplica(v, caller) && !hostAdmitted(v, caller.User.Host) {
		return pbs.Refuse(pbs.NoServer)
	}
	if s.Bool("acl_user_enable") && !command.UserListed(s.List("acl_users"), caller.User) {
		return pbs.Refuse(pbs.Unauthorized)
	}
	return nil
}

func hostAdmitted(v *state.View, host pbs.HostName) bool {
	if v.Server().Bool("acl_host_moms_enable") {
		if _, ok := v.Host(host); ok {
			return true
		}
	}
	return command.HostListed(v.Server().List("acl_hosts"), host)
}
