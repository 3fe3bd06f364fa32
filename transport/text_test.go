package transport

import (
	"context"
	"errors"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport/api"
)

func TestTextOnly(t *testing.T) {
	for name, c := range map[string]struct {
		msg  any
		want string
	}{
		"text":           {&api.SubmitRequest{Attributes: []*api.Attribute{{Name: "Job_Name", Value: "café"}}}, ""},
		"bytes":          {&api.SubmitRequest{Script: []byte("\xff")}, ""},
		"an identifier":  {&api.RerunRequest{Job: "caf\xe9"}, `"caf\xe9" is not UTF-8`},
		"an attribute":   {&api.SubmitRequest{Attributes: []*api.Attribute{{}, {Name: "Variable_List", Value: "A=" + strings.Repeat("a", 9999) + ",X=caf\xe9,B=b"}}}, `Illegal attribute or resource value Variable_List: "X=caf\xe9" is not UTF-8`},
		"a resource":     {&api.SubmitRequest{Attributes: []*api.Attribute{{Name: "Resource_List", Resource: "foo", Value: strings.Repeat("a", 9999) + "\xe9" + strings.Repeat("b", 9999)}}}, `Illegal attribute or resource value Resource_List.foo: "` + strings.Repeat("a", 60) + `\xe9` + strings.Repeat("b", 59) + `" is not UTF-8`},
		"an odd name":    {&api.SubmitRequest{Attributes: []*api.Attribute{{Name: "\xe9", Value: "x"}}}, `"\xe9" is not UTF-8`},
		"one of a list":  {&api.RunTaskRequest{Args: []string{"echo", "\xe9t\xe9"}}, `"\xe9t\xe9" is not UTF-8`},
		"U+FFFD is text": {&api.RerunRequest{Job: "\uFFFD"}, ""},
		"behind U+FFFD":  {&api.RerunRequest{Job: "\uFFFD\xe9"}, "\"\uFFFD\\xe9\" is not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			sent := false
			next := func(context.Context, connect.AnyRequest) (connect.AnyResponse, error) {
				sent = true
				return nil, nil
			}
			_, err := TextOnly().WrapUnary(next)(t.Context(), request{msg: c.msg})
			refusal, _ := errors.AsType[*pbs.Error](err)
			switch {
			case c.want == "" && (err != nil || !sent):
				t.Errorf("refused: %v", err)
			case c.want != "" && (sent || refusal == nil || refusal.Message != c.want || refusal.Code != pbs.BadAttributeValue):
				t.Errorf("sent %v, %v", sent, err)
			}
		})
	}
}

type request struct {
	connect.AnyRequest
	msg any
}

func (r request) Any() any { return r.msg }
