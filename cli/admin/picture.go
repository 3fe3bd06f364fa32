package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/urfave/cli/v2"
)

// A form is how a picture is wanted: for the terminal, as SVG in a file ("-": on the standard output), or as JSON.
type form struct {
	SVG     string
	JSON    bool
	Columns int
}

// formFlags returns the flags of a form.
func formFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "svg", Usage: "write the picture to `FILE`, \"-\" for the standard output"},
		&cli.BoolFlag{Name: "json", Usage: "print the form that stays stable"},
	}
}

// defaultColumns is how wide the picture is where nobody says how wide the terminal is.
const defaultColumns = 80

func formOf(env *Env, c *cli.Context) form {
	columns, err := strconv.Atoi(env.Getenv("COLUMNS"))
	if err != nil || columns <= 0 {
		columns = defaultColumns
	}
	return form{SVG: c.String("svg"), JSON: c.Bool("json"), Columns: columns}
}

// check refuses two forms at once.
func (f form) check() error {
	if f.JSON && f.SVG != "" {
		return errors.New("--json and --svg exclude each other")
	}
	return nil
}

// draw writes what is wanted of a picture.
func (f form) draw(env *Env, value any, svg, text func(io.Writer) error) error {
	var out bytes.Buffer
	var err error
	switch {
	case f.JSON:
		enc := json.NewEncoder(&out)
		enc.SetIndent("", "  ")
		err = enc.Encode(value)
	case f.SVG != "":
		err = svg(&out)
	default:
		err = text(&out)
	}
	if err == nil && f.SVG != "" && f.SVG != "-" {
		return env.WriteFile(f.SVG, out.Bytes())
	}
	if err == nil {
		_, err = out.WriteTo(env.Stdout)
	}
	return err
}
