import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadata$;
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution;
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution$;
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkPropagator$;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.ObjectType;

/**
 * Writes a logical plan of Spark as text: two plans have one text exactly if they are equal but for the numbers of
 * expressions, the names of aliases, and projections right below an aggregate. Spark compiles this file when the first
 * proof is asked for (with Janino, which generates no code for generics and lambdas: there are none here).
 *
 * A node is written with each argument that Spark's own copies of it take, so that nothing is left out because it is not
 * known here: a value of a class that is not known is listed by unknown(), and nothing is proven of such a plan.
 */
public final class PlanText {
    private static final Pattern LEAF = Pattern.compile("flareiac-leaf-([0-9a-z]+)");
    private static final Pattern KNOWN = Pattern.compile("(org\\.apache\\.spark\\.|scala\\.).*");

    private final Map numbers = new HashMap();
    private final Map columns = new HashMap();
    private final Map leaves = new HashMap();
    private final TreeSet unknown = new TreeSet();
    private Map inlined = new HashMap();
    private StringBuilder out = new StringBuilder();

    /**
     * The parts of one query that are compared, in the order of {@code _Plans} in {@code proof.py}: one call, since Py4J
     * takes as long for ten as Spark for the plan. The mode decides what a streaming query keeps; a frame has none.
     */
    public static String[] parts(Dataset frame, OutputMode mode, String[] stateful) {
        LogicalPlan analyzed = frame.queryExecution().analyzed();
        LogicalPlan plan = optimized(frame, analyzed, mode);
        PlanText writer = new PlanText();
        String sources = writer.sources(analyzed);
        String query = mode + " " + writer.of(plan);
        return new String[] {
            sources,
            new PlanText().state(plan, stateful),
            new PlanText().watermarks(plan),
            query,
            frame.schema().catalogString(),
            String.valueOf(writer.readsSession(analyzed)),
            writer.unknown(),
        };
    }

    /** As a first batch would be optimized: the last parameters have their defaults, but for the end of a query. */
    private static LogicalPlan optimized(Dataset frame, LogicalPlan analyzed, OutputMode mode) {
        IncrementalExecution$ defaults = IncrementalExecution$.MODULE$;
        return new IncrementalExecution(
            frame.sparkSession(),
            analyzed,
            mode,
            "<none>",
            java.util.UUID.randomUUID(),
            java.util.UUID.randomUUID(),
            0L,
            scala.Option.empty(),
            OffsetSeqMetadata$.MODULE$.apply(0L, 0L, PythonUtils.toScalaMap(new HashMap())),
            WatermarkPropagator$.MODULE$.noop(),
            false,
            defaults.$lessinit$greater$default$12(),
            defaults.$lessinit$greater$default$13(),
            defaults.$lessinit$greater$default$14(),
            false
        ).optimizedPlan();
    }

    /** The plan as text. */
    private String of(LogicalPlan plan) {
        text(plan); // names the columns of the sources, which come last in the text
        numbers.clear();
        return text(plan);
    }

    /** The streamed sources of an analyzed plan in their order, one a line; equal lines are one read of one source. */
    private String sources(LogicalPlan plan) {
        List found = new ArrayList();
        sources(plan, found);
        return lines(found);
    }

    /**
     * The outermost operators with state, one a line, with everything below them: an aggregate with its keys and its
     * functions in their order, without what is computed of them; any other operator whole.
     */
    private String state(LogicalPlan plan, String[] stateful) {
        text(plan);
        List found = new ArrayList();
        state(plan, new TreeSet(Arrays.asList(stateful)), found);
        return lines(found);
    }

    /** The watermarks, one a line, with everything below them. */
    private String watermarks(LogicalPlan plan) {
        text(plan);
        List found = new ArrayList();
        watermarks(plan, found);
        return lines(found);
    }

    /** Classes of values that are not known here, separated by commas. */
    private String unknown() {
        String listed = unknown.toString();
        return listed.substring(1, listed.length() - 1);
    }

    /** Whether the plan reads the time, the user or another property of the session. */
    private boolean readsSession(LogicalPlan plan) {
        return plan.containsPattern(TreePattern.CURRENT_LIKE());
    }

    private static String lines(List found) {
        StringBuilder all = new StringBuilder();
        for (int at = 0; at < found.size(); at++) all.append(at == 0 ? "" : "\n").append(found.get(at));
        return all.toString();
    }

    private String text(TreeNode plan) {
        StringBuilder before = out;
        out = new StringBuilder();
        node(plan);
        String text = out.toString();
        out = before;
        return text;
    }

    private void sources(LogicalPlan plan, List found) {
        if (plan.children().isEmpty() && plan.isStreaming() && !name(plan).equals("CTERelationRef"))
            found.add(text(plan));
        for (scala.collection.Iterator all = plan.subqueries().iterator(); all.hasNext(); )
            sources((LogicalPlan) all.next(), found);
        for (scala.collection.Iterator all = plan.children().iterator(); all.hasNext(); )
            sources((LogicalPlan) all.next(), found);
    }

    private void state(LogicalPlan plan, TreeSet names, List found) {
        String name = name(plan);
        if (plan.isStreaming() && (names.contains(name) || joinsStreams(plan, name))) {
            numbers.clear();
            found.add(plan instanceof Aggregate ? aggregated((Aggregate) plan) : text(plan));
            return;
        }
        for (scala.collection.Iterator all = plan.children().iterator(); all.hasNext(); )
            state((LogicalPlan) all.next(), names, found);
    }

    private static boolean joinsStreams(LogicalPlan plan, String name) {
        return name.equals("Join")
            && ((LogicalPlan) plan.children().apply(0)).isStreaming()
            && ((LogicalPlan) plan.children().apply(1)).isStreaming();
    }

    private void watermarks(LogicalPlan plan, List found) {
        if (name(plan).equals("EventTimeWatermark")) {
            numbers.clear();
            found.add(text(plan));
        }
        for (scala.collection.Iterator all = plan.children().iterator(); all.hasNext(); )
            watermarks((LogicalPlan) all.next(), found);
    }

    /** Spark keeps one buffer for each function, in the order of their first use. */
    private String aggregated(Aggregate plan) {
        StringBuilder before = out;
        out = new StringBuilder("(Aggregate ");
        LogicalPlan child = inline(plan);
        sequence(plan.groupingExpressions().iterator());
        List functions = new ArrayList();
        for (scala.collection.Iterator all = plan.aggregateExpressions().iterator(); all.hasNext(); )
            functions((TreeNode) all.next(), functions);
        for (int at = 0; at < functions.size(); at++) out.append(' ').append(functions.get(at));
        below(child);
        String text = out.append(')').toString();
        out = before;
        return text;
    }

    private void functions(TreeNode expression, List found) {
        if (name(expression).equals("AggregateExpression")) {
            org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression function =
                (org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression) expression;
            String filter = function.filter().isDefined() ? text((TreeNode) function.filter().get()) : "";
            String shown = "(" + text((TreeNode) function.aggregateFunction()) + " " + function.isDistinct() + " " + filter + ")";
            if (!found.contains(shown)) found.add(shown);
            return;
        }
        for (scala.collection.Iterator all = expression.children().iterator(); all.hasNext(); )
            functions((TreeNode) all.next(), found);
    }

    private void write(Object value) {
        if (value instanceof TreeNode) {
            node((TreeNode) value);
        } else if (value instanceof ExprId) {
            number(((ExprId) value).id());
        } else if (value instanceof DataType) {
            type((DataType) value);
        } else if (value instanceof Metadata) {
            out.append(((Metadata) value).json());
        } else if (value instanceof String) {
            quoted((String) value);
        } else if (value == null || value instanceof Number || value instanceof Boolean || value instanceof Character) {
            out.append(String.valueOf(value));
        } else if (value instanceof scala.collection.Map) {
            map((scala.collection.Map) value);
        } else if (value instanceof scala.collection.Iterable) {
            sequence(((scala.collection.Iterable) value).iterator());
        } else if (value instanceof scala.Enumeration.Value || value instanceof Class) {
            quoted(value.toString());
        } else if (value instanceof org.apache.spark.unsafe.types.CalendarInterval) {
            quoted(value.toString());
        } else if (value instanceof java.util.UUID) {
            out.append("uuid"); // drawn by each analysis; a watermark has one
        } else if (value instanceof scala.Product && KNOWN.matcher(value.getClass().getName()).matches()) {
            product(name(value), ((scala.Product) value).productIterator());
        } else {
            unknown(value);
        }
    }

    private void unknown(Object value) {
        unknown.add(value.getClass().getName());
        out.append('?');
    }

    private void type(DataType type) {
        if (type instanceof ObjectType) {
            quoted(type.toString());
            return;
        }
        out.append(type.json());
        // JSON has the collation of a text with the field that holds it, and not with its type.
        if (type.catalogString().contains("collate")) quoted(type.catalogString());
    }

    private void map(scala.collection.Map entries) {
        TreeSet sorted = new TreeSet();
        for (scala.collection.Iterator all = entries.iterator(); all.hasNext(); ) {
            StringBuilder before = out;
            out = new StringBuilder();
            write(all.next());
            sorted.add(out.toString());
            out = before;
        }
        out.append(sorted.toString());
    }

    private void node(TreeNode node) {
        String name = name(node);
        if (node instanceof Literal) {
            literal((Literal) node);
        } else if (node instanceof Attribute) {
            attribute((Attribute) node);
        } else if (name.equals("Alias")) {
            alias((NamedExpression) node, (TreeNode) node.children().apply(0));
        } else if (name.equals("NamedLambdaVariable")) {
            Expression variable = (Expression) node;
            out.append("(Variable ");
            number(((NamedExpression) node).exprId().id());
            out.append(' ');
            type(variable.dataType());
            out.append(' ').append(variable.nullable()).append(')');
        } else if (node instanceof Aggregate) {
            aggregate((Aggregate) node);
        } else if (node instanceof LocalRelation) {
            local((LocalRelation) node);
        } else if (node instanceof LogicalPlan && node.children().isEmpty() && !name.equals("OneRowRelation")) {
            leaf((LogicalPlan) node);
        } else {
            out.append('(').append(name);
            arguments(((scala.Product) node).productIterator());
            arguments(node.otherCopyArgs().iterator());
            out.append(')');
        }
    }

    private void aggregate(Aggregate plan) {
        out.append("(Aggregate ");
        LogicalPlan child = inline(plan);
        sequence(plan.groupingExpressions().iterator());
        out.append(" [");
        for (scala.collection.Iterator all = plan.aggregateExpressions().iterator(); all.hasNext(); ) {
            NamedExpression given = (NamedExpression) all.next();
            if (given instanceof Attribute && inlined.containsKey(Long.valueOf(given.exprId().id())))
                alias(given, (TreeNode) inlined.get(Long.valueOf(given.exprId().id())));
            else
                node((TreeNode) given);
            out.append(' ');
        }
        out.append("] ");
        write(plan.hint());
        below(child);
        out.append(')');
    }

    /**
     * What an aggregate reads, less a projection that only computes: a step that computes a column and an aggregate over
     * it are the aggregate over the expression. A column that carries metadata (a window, an event time) stays there, and
     * so does an expression that the aggregate may pass over (a branch of CASE, an operand beside a null): the projection
     * computes it for each row, and fails where it fails.
     */
    private LogicalPlan inline(Aggregate plan) {
        LogicalPlan child = plan.child();
        if (!(child instanceof Project)) return child;
        Map found = new HashMap();
        TreeSet computed = new TreeSet();
        for (scala.collection.Iterator all = ((Project) child).projectList().iterator(); all.hasNext(); ) {
            NamedExpression given = (NamedExpression) all.next();
            if (given instanceof Attribute) continue;
            Expression value = (Expression) ((TreeNode) given).children().apply(0);
            if (!name(given).equals("Alias") || !value.deterministic() || !given.metadata().equals(Metadata.empty()))
                return child;
            found.put(Long.valueOf(given.exprId().id()), value);
            if (!(value instanceof Attribute) && !(value instanceof Literal))
                computed.add(Long.valueOf(given.exprId().id()));
        }
        if (!always(plan.groupingExpressions(), computed) || !always(plan.aggregateExpressions(), computed)) return child;
        inlined = found;
        return ((Project) child).child();
    }

    private static boolean always(scala.collection.Iterable expressions, TreeSet computed) {
        for (scala.collection.Iterator all = expressions.iterator(); all.hasNext(); )
            if (!always((TreeNode) all.next(), computed)) return false;
        return true;
    }

    /** Whether each of these columns is certainly computed: it stands alone, or below nodes with one child only. */
    private static boolean always(TreeNode expression, TreeSet computed) {
        if (expression instanceof Attribute) return true;
        if (expression.children().size() == 1 && !name(expression).startsWith("Try"))
            return always((TreeNode) expression.children().apply(0), computed);
        return !mentions(expression, computed);
    }

    private static boolean mentions(TreeNode expression, TreeSet computed) {
        if (expression instanceof Attribute)
            return computed.contains(Long.valueOf(((Attribute) expression).exprId().id()));
        for (scala.collection.Iterator all = expression.children().iterator(); all.hasNext(); )
            if (mentions((TreeNode) all.next(), computed)) return true;
        return false;
    }

    private void below(LogicalPlan child) {
        inlined = new HashMap();
        out.append(' ');
        node(child);
    }

    private void literal(Literal literal) {
        out.append("(Literal ");
        type(literal.dataType());
        out.append(' ');
        if (literal.dataType() instanceof ObjectType) {
            write(literal.value());
        } else {
            quoted(literal.sql());
            // As text, two moments of an hour that a time zone has twice are one.
            if (literal.value() instanceof Number) out.append(' ').append(literal.value());
        }
        out.append(')');
    }

    private void attribute(Attribute column) {
        Object value = inlined.get(Long.valueOf(column.exprId().id()));
        if (value != null) {
            node((TreeNode) value);
            return;
        }
        out.append("(Column ");
        number(column.exprId().id());
        out.append(' ');
        type(column.dataType());
        out.append(' ').append(column.nullable());
        out.append(' ').append(column.metadata().json()).append(')');
    }

    private void alias(NamedExpression named, TreeNode value) {
        out.append("(Alias ");
        number(named.exprId().id());
        out.append(' ').append(named.metadata().json()).append(' ');
        node(value);
        out.append(')');
    }

    private void local(LocalRelation plan) {
        out.append("(LocalRelation ").append(plan.isStreaming());
        sequence(plan.output().iterator());
        for (scala.collection.Iterator rows = plan.data().iterator(); rows.hasNext(); ) {
            InternalRow row = (InternalRow) rows.next();
            out.append(" (");
            for (int at = 0; at < plan.output().size(); at++) {
                DataType type = ((Attribute) plan.output().apply(at)).dataType();
                literal(new Literal(row.get(at, type), type));
            }
            out.append(')');
        }
        out.append(')');
    }

    /** A source; its columns are called by their names, so that one that is not read makes no difference. */
    private void leaf(LogicalPlan plan) {
        String place = "";
        if (plan instanceof StreamingRelation) {
            place = String.valueOf(((StreamingRelation) plan).dataSource().options().get("path"));
        } else if (plan instanceof LogicalRelation && ((LogicalRelation) plan).relation() instanceof HadoopFsRelation) {
            place = ((HadoopFsRelation) ((LogicalRelation) plan).relation()).location().rootPaths().toString();
        }
        Matcher named = LEAF.matcher(place);
        if (!named.find() || plan.output().isEmpty()) {
            if (name(plan).equals("Range")) {
                out.append("(Range");
                arguments(((scala.Product) plan).productIterator());
                out.append(')');
                return;
            }
            unknown(plan);
            return;
        }
        Object first = Long.valueOf(((Attribute) plan.output().apply(0)).exprId().id());
        Object number = leaves.get(first);
        if (number == null) {
            number = Integer.valueOf(leaves.size());
            leaves.put(first, number);
        }
        for (scala.collection.Iterator all = plan.output().iterator(); all.hasNext(); ) {
            Attribute column = (Attribute) all.next();
            columns.put(Long.valueOf(column.exprId().id()), number + "." + column.name());
        }
        out.append("(Source ").append(named.group(1)).append(' ').append(number).append(')');
    }

    private void number(long id) {
        Object key = Long.valueOf(id);
        Object column = columns.get(key);
        if (column != null) {
            out.append('@');
            quoted(column.toString());
            return;
        }
        Object number = numbers.get(key);
        if (number == null) {
            number = Integer.valueOf(numbers.size());
            numbers.put(key, number);
        }
        out.append('#').append(number);
    }

    private void product(String name, scala.collection.Iterator all) {
        out.append('(').append(name);
        arguments(all);
        out.append(')');
    }

    private void arguments(scala.collection.Iterator all) {
        while (all.hasNext()) {
            out.append(' ');
            write(all.next());
        }
    }

    private void sequence(scala.collection.Iterator all) {
        out.append('[');
        while (all.hasNext()) {
            write(all.next());
            out.append(' ');
        }
        out.append(']');
    }

    private void quoted(String text) {
        out.append('"').append(text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n")).append('"');
    }

    private static String name(Object value) {
        String full = value.getClass().getName();
        return full.substring(full.lastIndexOf('.') + 1);
    }
}
