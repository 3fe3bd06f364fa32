package spool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// changeMark stands before the fields of a line that is a change of the record before it.
const changeMark = '+'

// formatChange writes the fields in which two records differ on a line of its own, null for one that
// next does not have. The records are structs of one type, whose fields all have names of their own.
func formatChange(before, next any) ([]byte, error) {
	a, b := reflect.ValueOf(before), reflect.ValueOf(next)
	if a.Type() != b.Type() || b.Kind() != reflect.Struct {
		return nil, fmt.Errorf("encode change: %s and %s are not structs of one type", a.Type(), b.Type())
	}
	changed := make(map[string]any)
	for i := range b.NumField() {
		from, to := a.Field(i).Interface(), b.Field(i).Interface()
		if reflect.DeepEqual(from, to) {
			continue
		}
		name, options, _ := strings.Cut(b.Type().Field(i).Tag.Get("json"), ",")
		if name == "" {
			name = b.Type().Field(i).Name
		}
		if strings.Contains(options, "omitempty") && empty(b.Field(i)) {
			to = nil
		}
		changed[name] = to
	}
	data, err := json.Marshal(changed)
	if err != nil {
		return nil, fmt.Errorf("encode change: %w", err)
	}
	return formatText(append([]byte{changeMark}, data...)), nil
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
		case len(text) == 0 || text[0] != changeMark:
			record, fields, sound = text, nil, true
		case sound:
			if fields == nil {
				if err := json.Unmarshal(record, &fields); err != nil {
					return nil, err
				}
			}
			if err := json.Unmarshal(text[1:], &fields); err != nil {
				return nil, err
			}
		}
	}
	if fields == nil {
		return record, nil
	}
	return json.Marshal(fields)
}
