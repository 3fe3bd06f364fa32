package interactive

// The second characters of an escape sequence, which begins with a tilde at the begin of a
// line.
const (
	escapeEnd     = '.'
	escapeSuspend = 'Z' - '@' // ^Z
)

// escape looks for the sequences by which somebody at a terminal speaks to qsub itself:
// "~." ends the job, "~^Z" stops qsub for a while. A tilde typed twice is one for the job.
type escape struct {
	inLine bool // something of the line was typed
	tilde  bool // a tilde is held back
}

// filter returns what goes to the job, and the command that was found, which ends the
// input; 0: none.
func (e *escape) filter(typed []byte) (pass []byte, command byte) {
	for _, c := range typed {
		switch {
		case e.tilde:
			e.tilde, e.inLine = false, true
			switch c {
			case escapeEnd, escapeSuspend:
				e.inLine = false
				return pass, c
			case '~':
				pass = append(pass, c)
			default:
				pass = append(pass, '~', c)
			}
		case c == '~' && !e.inLine:
			e.tilde = true
		default:
			e.inLine = true
			pass = append(pass, c)
		}
		if c == '\r' || c == '\n' {
			e.inLine = false
		}
	}
	return pass, 0
}
