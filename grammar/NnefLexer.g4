// The lexical elements of NNEF, chapter 3.1 of the specifications of both
// dialects.
//
// The compiler reads text with a scanner of its own
// (compiler/syntax/parse/scanner.h), which a test holds equal to this lexer
// token for token; the parser takes its token numbers from here.
lexer grammar NnefLexer;

// Tokens that no text spells: the statement reader
// (compiler/syntax/parse/statement_reader.h) makes them.
tokens {
  TYPE_ARGUMENT_OPEN,  // the `<` of `name<type>`
  ARGUMENT_NAME,       // an IDENTIFIER before `=` inside brackets
  YIELD,               // the IDENTIFIER `yield` of a comprehension that begins with `for`
  STATEMENT_END        // the end of a statement that is not ended by `;`
}

channels { COMMENT_CHANNEL }

// The keywords that both dialects share. `version`, `extension`, `integer`
// and `yield` of the ratified dialect and `extent` of the provisional one are
// identifiers here, since each is a plain name in the other dialect.
FRAGMENT : 'fragment' ;
GRAPH : 'graph' ;
TENSOR : 'tensor' ;
SCALAR : 'scalar' ;
LOGICAL : 'logical' ;
STRING : 'string' ;
SHAPE_OF : 'shape_of' ;
LENGTH_OF : 'length_of' ;
RANGE_OF : 'range_of' ;
FOR : 'for' ;
IN : 'in' ;
IF : 'if' ;
ELSE : 'else' ;
TRUE : 'true' ;
FALSE : 'false' ;

LPAREN : '(' ;
RPAREN : ')' ;
LBRACKET : '[' ;
RBRACKET : ']' ;
LBRACE : '{' ;
RBRACE : '}' ;
COMMA : ',' ;
COLON : ':' ;
SEMICOLON : ';' ;
ASSIGN : '=' ;
ARROW : '->' ;
QUESTION : '?' ;

PLUS : '+' ;
MINUS : '-' ;
STAR : '*' ;
SLASH : '/' ;
CARET : '^' ;
LT : '<' ;
LE : '<=' ;
GT : '>' ;
GE : '>=' ;
EQ : '==' ;
NE : '!=' ;
AND : '&&' ;
OR : '||' ;
NOT : '!' ;

// `i"conv1.out"` of tract's dialect is a name as well, whatever stands inside, which is
// judged where the name is taken.
IDENTIFIER : [a-zA-Z_] [a-zA-Z_0-9]* | 'i' QUOTED ;

// `1`, `0.5`, `1e-3`. `1.` and `.5` are errors: their point is UNEXPECTED.
NUMERIC_LITERAL : DIGITS ( '.' DIGITS )? ( [eE] [+-]? DIGITS )? ;

// What stands inside (printable ASCII only, the quote and `\` escaped) is
// judged where the literal gets its value.
STRING_LITERAL : QUOTED ;
UNTERMINATED_STRING
  : '\'' ( '\\' ~[\n] | ~['\\\n] )* '\\'?
  | '"' ( '\\' ~[\n] | ~["\\\n] )* '\\'?
  ;

// A form feed ends a comment as a new line does.
COMMENT : '#' ~[\n\f]* -> channel(COMMENT_CHANNEL) ;
WHITE_SPACE : ( [ \t\u000B\f\n] | '\r\n' )+ -> skip ;

// Any other character, reported where it stands.
UNEXPECTED : . ;

fragment QUOTED
  : '\'' ( '\\' ~[\n] | ~['\\\n] )* '\''
  | '"' ( '\\' ~[\n] | ~["\\\n] )* '"'
  ;
fragment DIGITS : [0-9]+ ;
