// The syntax of NNEF, chapter 3.2 of the specifications, for both dialects at
// once: a construct of the other dialect parses, and the checker judges it.
// Rules are named after the BNF.
//
// LL(1) throughout: no decision looks further than one token, so that the
// generated parser never calls adaptivePredict (a test greps for it). Where the
// language needs more, the statement reader helps: it ends statements that have
// no `;` with STATEMENT_END, turns the `<` of `name<type>` into
// TYPE_ARGUMENT_OPEN, the name of an argument into ARGUMENT_NAME, and the
// `yield` of a comprehension into YIELD.
//
// The AST is built from the label fields. Where a list has one item nearly
// always, the first has a label of its own: a field instead of a heap vector.
parser grammar NnefParser;

options { tokenVocab = NnefLexer; }

// ---- documents ----
//
// The reader of documents walks `document`, `body` and `quantizationFile`
// itself, calling the rules below once a statement.

document : version extension* fragmentDefinition* graphDefinition EOF ;

fragmentDefinition : fragmentDeclaration ( body | SEMICOLON ) ;

graphDefinition : graphDeclaration body ;

body : LBRACE assignment+ RBRACE ;

quantizationFile : quantization* EOF ;

// ---- statements ----

// `version 1.0;` (ratified), `version 1.0` (provisional). The keyword is an
// IDENTIFIER, judged when the AST is built, as is that of `extension`.
version : keyword=IDENTIFIER number=NUMERIC_LITERAL end=( SEMICOLON | STATEMENT_END ) ;

// `extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;`
// What a vendor's extension has behind its names may be an expression, which
// the checker judges: `extension vendor_bound S >= 1;`.
extension
  : keyword=IDENTIFIER names+=IDENTIFIER ( commas+=COMMA? names+=IDENTIFIER )* tail=extensionTail?
    end=( SEMICOLON | STATEMENT_END )
  ;

extensionTail : extensionOperator ( extensionOperator | IDENTIFIER | COMMA )* ;
extensionOperator
  : COLON | NUMERIC_LITERAL | PLUS | MINUS | STAR | SLASH | CARET | LT | LE | GT | GE | EQ | NE | AND | OR | NOT
  | LPAREN | RPAREN
  ;

// `fragment f<? = scalar>( x: tensor<?>, size: integer[] ) -> ( y: tensor<?> )`
fragmentDeclaration
  : FRAGMENT name=IDENTIFIER generic=genericDeclaration?
    open=LPAREN parameters=parameterList? close=RPAREN
    ARROW openResults=LPAREN results=resultList? closeResults=RPAREN
  ;

genericDeclaration : open=LT QUESTION ( ASSIGN defaultType=typeName )? close=GT ;

// A literal among the parameters continues the default of the parameter before
// it: the provisional `size: (extent,extent) = 1, 1`.
parameterList : items+=parameterItem ( COMMA items+=parameterItem )* ;
parameterItem : declared=parameter | continuation=literalExpr ;
parameter : name=IDENTIFIER COLON type=typeSpec ( ASSIGN defaultValue=literalExpr )? ;

resultList : items+=result ( COMMA items+=result )* ;
result : name=IDENTIFIER COLON type=typeSpec ;

// `graph net( input ) -> ( output )`
graphDeclaration
  : GRAPH name=IDENTIFIER open=LPAREN parameters=identifierList? close=RPAREN
    ARROW openResults=LPAREN results=identifierList? closeResults=RPAREN
  ;

identifierList : names+=IDENTIFIER ( COMMA names+=IDENTIFIER )* ;

// `y = relu(x);`, `a, b = split(x, axis = 1, ratios = [1,1]);`
assignment
  : left=lvalueExpr ( COMMA leftRest+=lvalueExpr )* equals=ASSIGN
    right=rvalueExpr ( COMMA rightRest+=rvalueExpr )* end=( SEMICOLON | STATEMENT_END )
  ;

// An entry of a quantization file (chapter 5.3):
// `"conv1": linear_quantize(min = 0.0, max = 1.0, bits = 8);`
quantization : key=STRING_LITERAL COLON value=rvalueExpr end=( SEMICOLON | STATEMENT_END ) ;

// ---- types ----

// IDENTIFIER stands for `integer` and `extent`.
typeName : name=( SCALAR | LOGICAL | STRING | QUESTION | IDENTIFIER ) ;

typeSpec
  : ( name=typeName | tensor=tensorTypeSpec | tuple=tupleTypeSpec ) ( arrays+=LBRACKET RBRACKET )*
  ;

// `tensor<scalar>`, `tensor<?>`, `tensor<>`, and the provisional `tensor`
tensorTypeSpec : TENSOR ( open=LT element=typeName? close=GT )? ;

tupleTypeSpec : LPAREN items+=typeSpec ( COMMA items+=typeSpec )+ RPAREN ;

// ---- literals of defaults ----

literalExpr
  : sign=( PLUS | MINUS )? literal=NUMERIC_LITERAL
  | literal=( STRING_LITERAL | TRUE | FALSE )
  | array=arrayLiteralExpr
  | tuple=tupleLiteralExpr
  ;

arrayLiteralExpr : LBRACKET ( items+=literalExpr ( COMMA items+=literalExpr )* )? RBRACKET ;

tupleLiteralExpr : LPAREN items+=literalExpr ( COMMA items+=literalExpr )+ RPAREN ;

// ---- left values ----

lvalueExpr : name=IDENTIFIER | array=arrayLvalueExpr | tuple=tupleLvalueExpr ;

arrayLvalueExpr : LBRACKET ( items+=lvalueExpr ( COMMA items+=lvalueExpr )* )? RBRACKET ;

tupleLvalueExpr : LPAREN items+=lvalueExpr ( COMMA items+=lvalueExpr )+ RPAREN ;

// ---- right values ----

// A flat list of operands and binary operators, whose precedence is resolved
// when the AST is built; then the if-else level, where `else` takes what
// follows: `x if c else y if d else z`.
rvalueExpr
  : first=unaryExpr ( operators+=binaryOperator rest+=unaryExpr )*
    ( IF conditions+=rvalueExpr ELSE otherwise+=binaryExpr )*
  ;

binaryExpr : first=unaryExpr ( operators+=binaryOperator rest+=unaryExpr )* ;

binaryOperator
  : op=( PLUS | MINUS | STAR | SLASH | CARET | LT | LE | GT | GE | EQ | NE | AND | OR | IN )
  ;

// An operand with the unary operators before and the subscripts behind it.
unaryExpr
  : operators+=unaryOperator*
    ( literal=( NUMERIC_LITERAL | STRING_LITERAL | TRUE | FALSE )
    | name=IDENTIFIER call=invocation?
    | builtin=builtinExpr
    | array=arrayRvalueExpr
    | tuple=tupleRvalueExpr
    )
    subscripts+=subscriptExpr*
  ;

unaryOperator : op=( PLUS | MINUS | NOT ) ;

// What follows the name of the operation, `<scalar>(x, axis = 1)`. The casts
// `integer(..)` and `extent(..)` are invocations here.
invocation
  : ( TYPE_ARGUMENT_OPEN typeArgument=typeName close=GT )?
    open=LPAREN ( arguments+=argument ( COMMA arguments+=argument )* )? RPAREN
  ;

// `x` or `axis = 1`
argument : ( name=ARGUMENT_NAME ASSIGN )? value=rvalueExpr ;

builtinExpr
  : name=( SHAPE_OF | LENGTH_OF | RANGE_OF | SCALAR | LOGICAL | STRING ) LPAREN value=rvalueExpr RPAREN
  ;

// `[]`, `[a, b]`, and comprehensions: the ratified
// `[for i in a, j in b if c yield e]` and the provisional `[e for i in a if c]`.
arrayRvalueExpr
  : LBRACKET
    ( comprehension=comprehensionExpr
    | items+=rvalueExpr ( provisional=provisionalComprehension | ( COMMA items+=rvalueExpr )* )
    )?
    RBRACKET
  ;

comprehensionExpr
  : FOR iterators=loopIterList ( IF condition=rvalueExpr )? YIELD value=rvalueExpr
  ;

provisionalComprehension : FOR iterators=loopIterList ( IF condition=rvalueExpr )? ;

loopIterList : items+=loopIter ( COMMA items+=loopIter )* ;

// Not an rvalueExpr: an `if` that follows belongs to the comprehension.
loopIter : name=IDENTIFIER IN value=binaryExpr ;

// `(a)` and `(a, b)`
tupleRvalueExpr : LPAREN items+=rvalueExpr ( COMMA items+=rvalueExpr )* RPAREN ;

// `[i]`, `[begin:end]`, each end optional
subscriptExpr
  : LBRACKET
    ( begin=rvalueExpr ( range=COLON end=rvalueExpr? )?
    | range=COLON end=rvalueExpr?
    )
    RBRACKET
  ;
