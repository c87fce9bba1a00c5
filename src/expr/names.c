/* names.c - names that mean something else where a formula is to be read; see expr_int.h. */
#include <string.h>

#include "expr/expr_int.h"

int expr_taken_in_c(const char *name)
{
    static const char *const words[] = {
        "auto",         "break",  "case",     "char",      "const",  "continue", "default",
        "do",           "double", "else",     "enum",      "extern", "float",    "for",
        "goto",         "if",     "inline",   "int",       "long",   "register", "restrict",
        "return",       "short",  "signed",   "sizeof",    "static", "struct",   "switch",
        "typedef",      "union",  "unsigned", "void",      "while",  "volatile", "alignas",
        "alignof",      "asm",    "bool",     "constexpr", "false",  "nullptr",  "static_assert",
        "thread_local", "true",   "typeof",   "INFINITY",  "NAN",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0)
            return 1;
    for (int op = 0; op < EXPR_OP_COUNT; op++)
        if (strcmp(expr_ops[op].c, name) == 0)
            return 1;
    return 0;
}

int expr_taken_in_sympy(const char *name)
{
    /* Those of up to nine letters that sympify (sympy 1.11) does not read as a symbol. */
    static const char words[] =
        " Abs Add Adjoint And Array Atom Basic CC CRootOf Catalan Chi Ci Circle Complexes"
        " Contains Curve Dict Domain Dummy E E1 EPath EX EXRAW Ei Eijk Ellipse EmptySet Eq"
        " Equality Expr FF False FiniteSet FlagError Float Function GF Ge Gt Heaviside I ITE"
        " Id Identity Idx ImageSet Implies Indexed Integer Integers Integral Interval Inverse"
        " LC LM LT Lambda LambertW Le LessThan Li Limit Line Line2D Line3D Lt MatAdd MatMul"
        " MatPow Matrix Max Min Mod Monomial Mul N NDimArray Nand Naturals Naturals0 Ne None"
        " Nor Not Number O OneMatrix Options Or Order Ordinal POSform Parabola Permanent"
        " Piecewise Plane Point Point2D Point3D PoleError Poly Polygon Pow PowerSet Predicate"
        " Product PurePoly Q QQ RR Range Rational Rationals Ray Ray2D Ray3D RealField Reals"
        " Rel Rem RootOf RootSum S SOPform Segment Segment2D Segment3D SeqAdd SeqMul SeqPer"
        " Set Shi Si Sieve Subs Sum Symbol TableForm Trace Transpose Triangle True Tuple Union"
        " Wild Xor Ynm ZZ Znm abs abundance acos acosh acot acoth acsc acsch adjoint airyai"
        " airybi all and any apart appellf1 arg arity as asec asech asin asinh ask assert"
        " assuming async atan atan2 atanh await banded bell bernoulli besseli besselj besselk"
        " bessely beta betainc bin binomial blockcut break cacheit cancel capture cartes"
        " catalan cbrt ccode ceiling centroid checksol chr class cofactors collect combsimp"
        " comp compose composite conjugate content continue cos cosh cot coth csc csch cse"
        " cxxcode decompose def deg degree del denom det diag diff digamma dir div divisors"
        " divmod doctest dotprint dsolve elif else epath erf erf2 erf2inv erfc erfcinv erfi"
        " erfinv euler eval evaluate except exec exp expand expint exquo eye factor factorial"
        " factorint factorrat false fcode ff fft fibonacci field finally flatten floor for"
        " format fps frac fraction fresnelc fresnels from fu fwht gamma gammasimp gcd gcdex"
        " genocchi gff global grevlex grlex groebner group gruntz hankel1 hankel2 harmonic"
        " hash hermite hessian hex hn1 hn2 horner hyper hypersimp id idiff if ifft ifwht igcd"
        " igrevlex igrlex ilcm ilex im imageset import in input integrate intervals intt"
        " invert is isolate isprime iter jacobi jn jscode laguerre lambda lambdify latex lcm"
        " legendre len lerchphi lex li limit linsolve ln log loggamma lucas marcumq mathieuc"
        " mathieus mathml max maximum meijerg min minimum minpoly mobius monic motzkin nan"
        " next nextprime nfloat nonlocal not nroots nsimplify nsolve ntt numer oct ones oo"
        " open or ord ord0 ordered partition pass pdiv pdsolve per pexquo pi plot polarify"
        " poly polygamma polylog posify postfixes pow powdenest powsimp pprint pquo prefixes"
        " prem pretty preview prevprime prime primenu primepi primitive primorial print prod"
        " product public pycode python quo rad radsimp raise randprime ratsimp rcode rcollect"
        " re reduced refine rem reshape residue resultant return rf ring root rootof roots"
        " rotations round rsolve sec sech sequence series seterr sfield shape sift sign"
        " signsimp simplify sin sinc sinh solve solveset sorted source sqf sqrt srepr sring"
        " sstr sstrrepr stieltjes sturm subsets sum summation symarray symbols sympify take"
        " tan tanh test textplot threaded timed together totient trace trailing transpose"
        " trigamma trigsimp true trunc try unflatten use var vars vectorize vfield viete vring"
        " while with wronskian xfield xring xthreaded yield yn zeros zeta zoo"
        " ";
    size_t length = strlen(name);
    for (const char *at = words; (at = strstr(at, name)) != NULL; at++)
        if (at > words && at[-1] == ' ' && at[length] == ' ')
            return 1;
    return 0;
}
