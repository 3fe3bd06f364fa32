package transport

import (
	"context"
	"strings"
	"unicode/utf8"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// TextOnly returns the interceptor of clients whose words come from people: what is not UTF-8 is refused
// before it is sent, with BadAttributeValue and the words, since no message can carry it.
func TextOnly() connect.Interceptor { return textOnly{} }

type textOnly struct{}

// WrapUnary implements connect.Interceptor.
func (textOnly) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		if err := checkText(req.Any()); err != nil {
			return nil, err
		}
		return next(ctx, req)
	}
}

// WrapStreamingClient implements connect.Interceptor.
func (textOnly) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		return textConn{next(ctx, spec)}
	}
}

// WrapStreamingHandler implements connect.Interceptor.
func (textOnly) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

type textConn struct{ connect.StreamingClientConn }

// Send implements connect.StreamingClientConn.
func (c textConn) Send(msg any) error {
	if err := checkText(msg); err != nil {
		return err
	}
	return c.StreamingClientConn.Send(msg)
}

func checkText(msg any) error {
	if m, ok := msg.(proto.Message); ok {
		return checkMessage(m.ProtoReflect())
	}
	return nil
}

func checkMessage(m protoreflect.Message) (err error) {
	check := func(kind protoreflect.Kind, v protoreflect.Value) bool {
		switch kind {
		case protoreflect.StringKind:
			if s := v.String(); !utf8.ValidString(s) {
				err = notText(m, s)
			}
		case protoreflect.MessageKind:
			err = checkMessage(v.Message())
		}
		return err == nil
	}
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.IsList():
			for i := 0; i < v.List().Len() && err == nil; i++ {
				check(field.Kind(), v.List().Get(i))
			}
			return err == nil
		case field.IsMap():
			v.Map().Range(func(key protoreflect.MapKey, v protoreflect.Value) bool {
				return check(field.MapKey().Kind(), key.Value()) && check(field.MapValue().Kind(), v)
			})
			return err == nil
		}
		return check(field.Kind(), v)
	})
	return err
}

// notText refuses a string of a message; of an attribute's value it says whose it is.
func notText(m protoreflect.Message, s string) error {
	e := pbs.Errorf(pbs.BadAttributeValue, "%q is not UTF-8", around(s))
	if a, ok := m.Interface().(*api.Attribute); ok && utf8.ValidString(a.GetName()+a.GetResource()) {
		name := a.GetName()
		if a.GetResource() != "" {
			name += "." + a.GetResource()
		}
		e.Message = pbs.Attribute(pbs.BadAttributeValue, name).Message + ": " + e.Message
	}
	return e
}

// around returns the part of a text, between commas, whose bytes are at fault: a list of variables is long.
func around(s string) string {
	const most = 60 // bytes
	at := 0
	for r, size := utf8.DecodeRuneInString(s); r != utf8.RuneError || size > 1; r, size = utf8.DecodeRuneInString(s[at:]) {
		at += size
	}
	from, to := strings.LastIndexByte(s[:at], ',')+1, len(s)
	if n := strings.IndexByte(s[at:], ','); n >= 0 {
		to = at + n
	}
	return s[max(from, at-most):min(to, at+most)]
}
