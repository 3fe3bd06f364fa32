package command

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// ManageHook creates, deletes and changes a hook: qmgr (specification: hooks section 1).
type ManageHook struct {
	Verb    Verb         `cbor:"1,keyasint"`
	Name    string       `cbor:"2,keyasint"`
	Builtin bool         `cbor:"3,keyasint,omitempty"` // it was addressed as pbshook
	Changes []AttrChange `cbor:"4,keyasint,omitempty"`
}

// Apply changes the hook, or refuses with the words of the specification.
func (c *ManageHook) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	h, ok := tx.Hook(c.Name)
	switch {
	case c.Verb == VerbCreate:
		if err := c.mayCreate(ok); err != nil {
			return err
		}
		h = &state.Hook{Name: c.Name, Seq: tx.NextSeq()}
	case !ok || h.Builtin() != c.Builtin:
		return hookNotFound(c.Name)
	case c.Verb == VerbDelete && c.Builtin:
		return pbs.Errorf(pbs.HookError, "cannot delete a built-in hook")
	case c.Verb == VerbDelete:
		tx.DeleteHook(c.Name)
		tell(tx, m, "hook "+c.Name, c.Verb, nil)
		return nil
	}
	next := *h
	for _, ch := range c.Changes {
		if err := editHook(tx, &next, ch); err != nil {
			return err
		}
	}
	if err := coherent(&next, c.Changes); err != nil {
		return err
	}
	if next.Seq == 0 {
		next.Seq = tx.NextSeq() // a built-in one that is changed for the first time
	}
	tx.PutHook(&next)
	said := c.Changes
	if c.Verb == VerbCreate {
		said = nil // as a PBS, which names none of a new hook's
	}
	tell(tx, m, "hook "+c.Name, c.Verb, said)
	return nil
}

func hookNotFound(name string) error { return pbs.Errorf(pbs.HookError, "%s hook not found", name) }

// maxHookName bounds a name, which is that of files, too.
const maxHookName = 128

func (c *ManageHook) mayCreate(there bool) error {
	switch {
	case strings.HasPrefix(strings.ToLower(c.Name), "pbs"):
		return pbs.Errorf(pbs.HookError, "cannot use PBS as a prefix for site hooks: it's reserved for PBS hooks")
	case c.Builtin:
		return pbs.Errorf(pbs.HookError, "cannot create a built-in hook")
	case there:
		return pbs.Errorf(pbs.HookError, "hook name %s already registered, try another name", c.Name)
	case !validHookName(c.Name):
		return pbs.Errorf(pbs.HookError, "hook name must be 1 to %d letters, digits, '_', '-' and '.', and begin with a letter", maxHookName)
	}
	return nil
}

func validHookName(name string) bool {
	for i := range len(name) {
		letter := name[i]|0x20 >= 'a' && name[i]|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789_-.", rune(name[i]))) {
			return false
		}
	}
	return name != "" && len(name) <= maxHookName
}

// editHook makes one change. What was not asked for is dropped, so that the default holds.
func editHook(tx *state.Tx, h *state.Hook, ch AttrChange) error {
	e := ch.Entry
	def, ok := attr.Lookup(attr.Hook, e.Name)
	switch {
	case !ok || e.Resource != "":
		return pbs.Refuse(pbs.UndefinedAttribute)
	case e.Name == "type" && ch.Op != OpUnset && e.Value != h.Get("type"):
		return pbs.Errorf(pbs.HookError, "can't change the type of a hook")
	case ch.Op != OpSet && ch.Op != OpUnset && def.Type != attr.Array:
		return pbs.Errorf(pbs.HookError, "%s of a hook can only be set", e.Name)
	}
	base := h.Attrs
	if e.Name == "fail_action" && h.Get(e.Name) == "none" || e.Value == "none" {
		base = base.Unset(e.Name, "")
	}
	if e.Value == "none" {
		if ch.Op != OpSet && ch.Op != OpUnset {
			return nil
		}
		ch.Op = OpUnset
	}
	list, err := editOne(tx, attr.Hook, base, ch)
	if err != nil {
		return err
	}
	h.Attrs = list
	return nil
}

// hookOrder refuses an order that hooks of the type do not have. As a PBS does, it names 1 as the least one of a site's
// hooks, and takes what is below 0.
func hookOrder(h *state.Hook) error {
	low, high := int64(1), int64(1000)
	n := h.Int("order")
	if h.Builtin() {
		low, high = -1000, 2000
	} else if n >= -1000 && n < 0 {
		return nil
	}
	if n < low || n > high {
		return pbs.Errorf(pbs.HookError, "order given (%d) is outside the acceptable range of [%d, %d] for type '%s'.", n, low, high, h.Get("type"))
	}
	return nil
}

// coherent refuses values that do not go with each other. freq needs its event only when
// it is set: who takes the event away and brings it back finds it as it was.
func coherent(h *state.Hook, changes []AttrChange) error {
	if err := hookOrder(h); err != nil {
		return err
	}
	touched := func(name string) bool {
		return slices.ContainsFunc(changes, func(ch AttrChange) bool { return ch.Entry.Name == name && ch.Op != OpUnset })
	}
	if touched("freq") && !h.Periodic() {
		return pbs.Errorf(pbs.HookError, "Can't set hook freq value: hook event must contain at least exechost_periodic,periodic")
	}
	if events := []string{"execjob_prologue", "execjob_epilogue", "execjob_preterm"}; h.Get("user") == attr.HookUser && !only(h, events) {
		return pbs.Errorf(pbs.HookError, "Can't set hook user value to 'pbsuser': hook event must contain at least %s, and no other", strings.Join(events, ","))
	}
	for word := range strings.SplitSeq(h.Get("fail_action"), ",") {
		if events := failEvents[word]; events != nil && !some(h, events) {
			return pbs.Errorf(pbs.HookError, "Can't set hook fail_action value to '%s': hook event must contain at least %s", word, strings.Join(events, ","))
		}
	}
	return nil
}

// failEvents are the events at which a fail_action means something.
var failEvents = map[string][]string{
	attr.FailOffline: {"execjob_begin", "execjob_prologue", "exechost_startup"},
	attr.FailClear:   {"exechost_startup"},
	attr.FailRestart: {"execjob_begin", "execjob_prologue"},
}

// only reports whether the hook has events, and all of them are of the list.
func only(h *state.Hook, events []string) bool {
	for _, e := range h.Events() {
		if !slices.Contains(events, e) {
			return false
		}
	}
	return len(h.Events()) > 0
}

func some(h *state.Hook, events []string) bool {
	return slices.ContainsFunc(h.Events(), func(e string) bool { return slices.Contains(events, e) })
}

// MaxHookFile is the greatest size of a hook's script or configuration, in bytes.
const MaxHookFile = 4 << 20

// ImportHook stores a hook's script or configuration file, which the proposer has checked.
type ImportHook struct {
	Name   string             `cbor:"1,keyasint"`
	Kind   state.HookFileKind `cbor:"2,keyasint"`
	Suffix string             `cbor:"3,keyasint,omitempty"` // no longer proposed; old entries have it
	Body   []byte             `cbor:"4,keyasint,omitempty"`
}

// Apply stores the content. It reports whether there was one before.
func (c *ImportHook) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	h, ok := tx.Hook(c.Name)
	switch {
	case !ok:
		return hookNotFound(c.Name)
	case len(c.Body) > MaxHookFile:
		return pbs.Errorf(pbs.HookError, "hook '%s' contents not overwritten: more than %d bytes", c.Name, MaxHookFile)
	case c.Kind != state.HookScript && c.Kind != state.HookConfig:
		return pbs.Refuse(pbs.InvalidRequest)
	case h.Builtin() && c.Kind == state.HookScript:
		return pbs.Errorf(pbs.HookError, "cannot import the script of a built-in hook")
	}
	next := *h
	if next.Seq == 0 {
		next.Seq = tx.NextSeq()
	}
	sum := sha256.Sum256(c.Body)
	file := &next.Script
	if c.Kind == state.HookConfig {
		file, next.Suffix = &next.Config, c.Suffix
	}
	res.Overwritten = file.Sum != ""
	*file = state.HookFileSum{Sum: hex.EncodeToString(sum[:]), Size: uint64(len(c.Body))}
	tx.PutHookFile(&state.HookFile{Hook: c.Name, Kind: c.Kind, Body: c.Body})
	tx.PutHook(&next)
	tx.Emit(state.Event{Kind: state.ObjectChanged, Object: "hook " + c.Name, By: m.Asker, Text: "mgr_hook_import"})
	return nil
}
