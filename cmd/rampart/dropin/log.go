package dropin

import (
	"time"

	"rampart/cmd/rampart/home"
	"rampart/transport/daylog"
)

// A journal is the log of a small daemon, in PBS's form.
type journal struct {
	*daylog.Log
	class, folder string
	mask          uint16
}

func newJournal(dir, daemon, class string, mask uint16) journal {
	return journal{daylog.New(dir, daemon, daylog.Options{HighRes: home.HighRes(), Mask: mask, Syslog: home.Syslog()}), class, dir, mask}
}

// say writes a line; that it cannot be written has nobody to be told to.
func (j journal) say(event uint16, object, text string) {
	_ = j.Write(time.Now(), event, j.class, object, text)
}
