package spool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// changeMark stands before the fields of a line that is a change of the record before it, and before
// the name of a field of which only some fields have changed.
const changeMark = "+"

// formatChange writes the fields in which two records differ on a line of its own, null for one that
// next does not have. The records are structs of one type, whose fields all have names of their own;
// of a record inside a record only what differs is written, too.
func formatChange(before, next any) ([]byte, error) {
	a, b := reflect.ValueOf(before), reflect.ValueOf(next)
	if a.Type() != b.Type() || b.Kind() != reflect.Struct {
		return nil, fmt.Errorf("encode change: %s and %s are not structs of one type", a.Type(), b.Type())
	}
	changed := make(map[string]any)
	differences(a, b, changed)
	data, err := json.Marshal(changed)
	if err != nil {
		return nil, fmt.Errorf("encode change: %w", err)
	}
	return formatText(append([]byte(changeMark), data...)), nil
}

// differences notes in changed what b has else than a. The fields of an embedded struct count as those
// of the struct around it, as in JSON.
func differences(a, b reflect.Value, changed map[string]any) {
	for i := range b.NumField() {
		from, to, field := a.Field(i), b.Field(i), b.Type().Field(i)
		if reflect.DeepEqual(from.Interface(), to.Interface()) {
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" && to.Kind() == reflect.Struct {
			differences(from, to, changed)
			continue
		}
		if name == "" {
			name = field.Name
		}
		switch _, own := to.Interface().(json.Marshaler); {
		case strings.Contains(options, "omitempty") && empty(to):
			changed[name] = nil
		case to.Kind() == reflect.Struct && !own:
			inner := make(map[string]any)
			differences(from, to, inner)
			changed[changeMark+name] = inner
		default:
			changed[name] = to.Interface()
		}
	}
}

// merge puts a change over the fields of a record.
func merge(fields map[string]json.RawMessage, change []byte) error {
	var changed map[string]json.RawMessage
	if err := json.Unmarshal(change, &changed); err != nil {
		return err
	}
	for name, value := range changed {
		inside, part := strings.CutPrefix(name, changeMark)
		if !part {
			fields[name] = value
			continue
		}
		inner := make(map[string]json.RawMessage)
		if was := fields[inside]; was != nil {
			if err := json.Unmarshal(was, &inner); err != nil {
				return err
			}
		}
		if inner == nil { // it was null
			inner = make(map[string]json.RawMessage)
		}
		if err := merge(inner, value); err != nil {
			return err
		}
		whole, err := json.Marshal(inner)
		if err != nil {
			return err
		}
		fields[inside] = whole
	}
	return nil
}

// empty tells what omitempty leaves out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// readTask returns the record that a task's file ends with, nil if there is none. A change counts only
// if all lines are whole from the record that it builds on.
func readTask(file []byte) (json.RawMessage, error) {
	var record json.RawMessage
	var fields map[string]json.RawMessage // of record and the changes since, if there are any
	sound := false
	for line := range bytes.Lines(file) {
		text, ok := checkLine(bytes.TrimSuffix(line, []byte("\n")))
		switch {
		case !ok:
			sound = false
		case len(text) == 0 || text[0] != changeMark[0]:
			record, fields, sound = text, nil, true
		case sound:
			if fields == nil {
				if err := json.Unmarshal(record, &fields); err != nil {
					return nil, err
				}
			}
			if err := merge(fields, text[1:]); err != nil {
				return nil, err
			}
		}
	}
	if fields == nil {
		return record, nil
	}
	return json.Marshal(fields)
}
