package attr

import (
	"strings"

	"rampart/fsm/pbs"
)

// resvRows returns the attributes of a reservation in the order of pbs_rstat -F (specification:
// advance-reservations section 4.1).
func resvRows() []row {
	return []row{
		set("Reserve_Name", Text, parseReserveName),
		shown("Reserve_Owner", Text),
		shown("reserve_state", Text),
		shown("reserve_substate", Number),
		set("reserve_start", Epoch, nil),
		set("reserve_end", Epoch, nil),
		set("reserve_duration", Number, numberIn(1, 1<<31-1)),
		shown("queue", Text),
		set("Resource_List", Resources, nil),
		shown("resv_nodes", Text),
		set("User_List", Array, parseHosted),
		set("group_list", Array, parseHosted),
		set("Authorized_Users", Array, parseACL),
		set("Authorized_Groups", Array, parseACL),
		set("Authorized_Hosts", Array, parseACL),
		shown("server", Text),
		shown("ctime", Epoch),
		set("Mail_Points", Text, parseReserveMail),
		set("Mail_Users", Array, parseMailUsers),
		shown("mtime", Epoch),
		set("interactive", Number, numberIn(-1<<31, 1<<31-1)),
		set("Variable_List", Variables, nil).onCreate(),
		set("qmove", Text, nil).onCreate(),
		set("reserve_rrule", Text, nil).onCreate(),
		shown("reserve_index", Number),
		shown("reserve_count", Number),
		shown("reserve_retry", Epoch),
		set("delete_idle_time", Duration, nil).onCreate(),
		set("reserve_job", Text, nil).onCreate(),
		shown("partition", Text),
	}
}

// MaxReserveName is how many characters the name of a reservation may have: pbs_rsub has words of its own for a longer one.
const MaxReserveName = 230

func parseReserveName(text string) (string, bool) {
	if strings.ContainsFunc(text, func(r rune) bool { return pbs.IsControl(r) || r == ' ' }) {
		return "", false
	}
	return text, text != "" && len(text) <= MaxReserveName
}

// parseReserveMail takes the points of a reservation's mails: it has also "c", when it is confirmed.
func parseReserveMail(text string) (string, bool) { return letters('n', "abce")(text) }
