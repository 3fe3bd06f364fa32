package lsf

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// JobMessages is the attribute of a job that holds what bpost and bstatus have posted. It is set to "INDEX text", which takes the place of the
// message of that index.
const JobMessages = "lsf_messages"

// A Message is one that was posted.
type Message struct {
	Index int
	From  string
	At    int64 // seconds since the epoch
	Text  string
}

// MostMessages bounds the attribute, in bytes.
const MostMessages = 16 << 10

// ReadMessages reads the attribute, in the order of the indices.
func ReadMessages(text string) (all []Message) {
	for text != "" {
		head, rest, _ := strings.Cut(text, `"`)
		f := strings.Fields(head)
		quoted, err := strconv.QuotedPrefix(`"` + rest)
		if err != nil || len(f) != 3 {
			return all
		}
		m := Message{From: f[1]}
		m.Index, _ = strconv.Atoi(f[0])
		m.At, _ = strconv.ParseInt(f[2], 10, 64)
		m.Text, _ = strconv.Unquote(quoted) // it was quoted by Post
		all = append(all, m)
		text = strings.TrimPrefix(rest[len(quoted)-1:], ", ")
	}
	return all
}

// Post returns the attribute with "INDEX text" from somebody at a moment, in seconds since the epoch. false: there is too much of it then.
func Post(text, posted, from string, at int64) (string, bool) {
	index, words, _ := strings.Cut(posted, " ")
	n, err := strconv.Atoi(index)
	if err != nil {
		return "", false
	}
	all := slices.DeleteFunc(ReadMessages(text), func(m Message) bool { return m.Index == n })
	all = append(all, Message{n, cmp.Or(from, "-"), at, words})
	slices.SortFunc(all, func(a, b Message) int { return a.Index - b.Index })
	shown := make([]string, len(all))
	for i, m := range all {
		shown[i] = fmt.Sprintf("%d %s %d %q", m.Index, m.From, m.At, m.Text)
	}
	text = strings.Join(shown, ", ")
	return text, len(text) <= MostMessages
}
