package task

import (
	"context"
	"errors"
	"log/slog"
	"testing"
)

// absent is a directory that answers with an error.
type absent struct{ err error }

func (a absent) Account(context.Context, string, string) (Account, error) { return Account{}, a.err }

// The owner of a job is taken as the servers know him while the host's own directory does not
// answer; what it says counts when it does, and root is never taken from elsewhere.
func TestAccount_Known(t *testing.T) {
	ann, silent := &Account{Name: "ann", UID: 1000, GID: 100}, errors.New("silent")
	for _, c := range []struct {
		name  string
		err   error
		known *Account
		want  error
	}{
		{"silent", silent, ann, nil},
		{"removed", ErrNoAccount, ann, ErrNoAccount},
		{"not known", silent, nil, silent},
		{"root", silent, &Account{Name: "ann"}, silent},
	} {
		s := &Site{Accounts: absent{c.err}, SwitchUser: true, Logger: slog.New(slog.DiscardHandler)}
		a, err := s.owners().account(t.Context(), Task{Order: Order{Known: c.known}})
		if !errors.Is(err, c.want) || err == nil && a.UID != 1000 {
			t.Errorf("%s: %+v, %v", c.name, a, err)
		}
	}
}
